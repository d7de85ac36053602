import { KeyedRandom } from '../../../backend/common/keyed-random.ts';
import { type Host, HOSTS, paceOf, quantile, secondsOf } from './measured.ts';

/*
 * A team that trains one Conductor, event by event: the GPU samples groups of plans, machines carry them out and judge them, and whole groups make a batch. A simulation: what is
 * measured are the seconds of a worker's call (measured.ts) and of a verdict (docs/real-projects.md), and what a GPU takes to write; the rest is stated here.
 */

export interface Team {
  readonly machines: number;
  /** Rollouts under way at once on a machine. */
  readonly parallel: number;
  /** Verdicts under way at once on a machine. */
  readonly judges: number;
  /** Quantiles of the seconds of a verdict; absent where answers are compared and nothing is run. */
  readonly verdictSeconds?: readonly number[] | undefined;
  readonly plansPerStep: number;
  /** Groups of a step. All plans of a group are of one task, so they are carried out on one machine. */
  readonly groupsPerStep: number;
  /** The most versions by which the model has moved on since a group was sampled. 0: a step waits for all of its groups. */
  readonly versionsOld: number;
  /** What becomes of a group that would be older than that: it is dropped, or no step is made before it has ended. */
  readonly late: 'dropped' | 'waited for';
  /** Calls to one host that a machine has under way at once. */
  readonly callsAtOnce: number;
  /** Plans that the GPU writes at once. */
  readonly sampledAtOnce: number;
  readonly gpu: GpuSeconds;
  readonly steps: number;
  readonly seed: number;
}

export interface GpuSeconds {
  /** To sample so many plans of so many prompts at once. */
  readonly sample: (plans: number, prompts: number) => number;
  /** To learn from so many plans. */
  readonly update: (plans: number) => number;
}

export interface TeamFigures {
  readonly secondsPerStep: number;
  /** Share of the time in which the GPU has nothing to do. */
  readonly gpuWaits: number;
  /** Share of the time in which a place for a rollout is empty, of all places. */
  readonly placesEmpty: number;
  /** Versions by which the model had moved on, mean over the groups that were learned from. */
  readonly age: number;
  /** Share of the carried out groups that were too old to learn from. */
  readonly dropped: number;
}

/** Steps of a plan, up to the five that a plan may have, and how often; 2.9 on average. */
const LENGTHS = [0.1, 0.3, 0.3, 0.2, 0.1] as const;
/** How often a step reads the one before. Otherwise it begins with those that read nothing. */
const READS = 0.7;
/** The first steps are left out of the figures: all machines begin at once. */
const WARM_UP = 3;

interface Group {
  readonly id: number;
  readonly version: number;
  left: number;
}

/** Places that are taken first come, first served. */
class Places {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  get free(): number {
    return this.#free;
  }

  take(then: () => void): void {
    if (this.#free === 0) this.#waiting.push(then);
    else {
      this.#free -= 1;
      then();
    }
  }

  giveBack(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}

class Machine {
  readonly rollouts: Places;
  readonly judges: Places;
  readonly hosts: ReadonlyMap<Host, Places>;
  /** Groups that it was given and has not ended. */
  groups = 0;

  constructor({ parallel, judges, callsAtOnce }: Team) {
    this.rollouts = new Places(parallel);
    this.judges = new Places(judges);
    this.hosts = new Map(HOSTS.map((host) => [host, new Places(callsAtOnce)]));
  }
}

export function simulateTeam(team: Team): TeamFigures {
  const { machines: count, plansPerStep, groupsPerStep, versionsOld, late, sampledAtOnce, gpu, steps, verdictSeconds, parallel } = team;
  const plans = plansPerStep / groupsPerStep;
  const clock = new Clock();
  const machines = Array.from({ length: count }, () => new Machine(team));
  const done: Group[] = [];
  const underWay = new Set<Group>();
  let [version, sampled, dropped, learned, ages, gpuBusy, isUpdating, placesBusy] = [0, 0, 0, 0, 0, 0, false, 0];
  let begun = { at: 0, gpuBusy: 0, placesBusy: 0, dropped: 0, learned: 0, ages: 0 };
  /** Groups that wait for the GPU, which does one thing at a time, samples first. */
  const wanted: { readonly machine: Machine; readonly group: Group }[] = [];
  let isGpuBusy = false;

  const work = (seconds: number, then: () => void): void => {
    isGpuBusy = true;
    gpuBusy += seconds;
    clock.after(seconds, () => {
      isGpuBusy = false;
      then();
      goOn();
    });
  };

  /** A group is sampled where a machine has places, and as long as it cannot be older than allowed when its turn comes. */
  const goOn = (): void => {
    while (sampled - dropped < groupsPerStep * (version + 1 + versionsOld)) {
      const machine = machines.filter((one) => one.groups * plans < parallel + plans - 1 && one.rollouts.free > 0).sort((a, b) => a.groups - b.groups)[0];
      if (!machine) break;
      const group: Group = { id: sampled, version, left: plans };
      underWay.add(group);
      sampled += 1;
      machine.groups += 1;
      wanted.push({ machine, group });
    }
    if (isGpuBusy) return;
    const together = wanted.splice(0, Math.max(1, Math.floor(sampledAtOnce / plans)));
    if (together.length > 0) {
      work(gpu.sample(together.length * plans, together.length), () => {
        for (const { machine, group } of together) {
          for (let plan = 0; plan < plans; plan += 1) carryOut(machine, group, new KeyedRandom(team.seed, group.id, plan));
        }
      });
    } else if (done.length >= groupsPerStep && !isUpdating && !waitsForLate()) update();
  };

  /** Whether a step would make a group too old that is under way. */
  const waitsForLate = (): boolean => late === 'waited for' && [...underWay].some((group) => version + 1 - group.version > versionsOld);

  const update = (): void => {
    isUpdating = true;
    // The oldest first.
    const batch = done.sort((a, b) => a.id - b.id).splice(0, groupsPerStep);
    work(gpu.update(plansPerStep), () => {
      isUpdating = false;
      learned += batch.length;
      ages += batch.reduce((sum, group) => sum + version - group.version, 0);
      version += 1;
      for (let index = done.length - 1; index >= 0; index -= 1) {
        if (version - (done[index] as Group).version <= versionsOld) continue;
        done.splice(index, 1);
        dropped += 1;
      }
      if (version === WARM_UP) begun = { at: clock.now, gpuBusy, placesBusy, dropped, learned, ages };
    });
  };

  const carryOut = (machine: Machine, group: Group, random: KeyedRandom): void => machine.rollouts.take(() => {
    const from = clock.now;
    const ended = (): void => {
      placesBusy += clock.now - from;
      machine.rollouts.giveBack();
      group.left -= 1;
      if (group.left > 0) return;
      machine.groups -= 1;
      underWay.delete(group);
      if (version - group.version <= versionsOld) done.push(group);
      else dropped += 1;
      goOn();
    };
    const judge = (): void => {
      if (!verdictSeconds) return ended();
      machine.judges.take(() => clock.after(quantile(verdictSeconds, random.unit('verdict')), () => {
        machine.judges.giveBack();
        ended();
      }));
    };
    runSteps(machine, random, judge);
  });

  /** Steps that read nothing begin at once; the others when the one before has ended. */
  const runSteps = (machine: Machine, random: KeyedRandom, then: () => void): void => {
    const chains: number[][] = [];
    for (let step = 0; step < lengthOf(random); step += 1) {
      if (step === 0 || random.unit(`reads ${step}`) >= READS) chains.push([]);
      chains.at(-1)!.push(step);
    }
    let left = chains.length;
    const call = (chain: readonly number[], at: number): void => {
      if (at === chain.length) {
        left -= 1;
        if (left === 0) then();
        return;
      }
      const host = random.pick(`host ${chain[at]}`, HOSTS) as Host;
      machine.hosts.get(host)!.take(() => clock.after(secondsOf(paceOf(host, new KeyedRandom(team.seed, random.unit('call'), chain[at]))), () => {
        machine.hosts.get(host)!.giveBack();
        call(chain, at + 1);
      }));
    };
    for (const chain of chains) call(chain, 0);
  };

  goOn();
  while (version < steps + WARM_UP && clock.next());
  const seconds = clock.now - begun.at;
  const groups = learned - begun.learned;
  return {
    secondsPerStep: seconds / steps,
    gpuWaits: 1 - (gpuBusy - begun.gpuBusy) / seconds,
    placesEmpty: 1 - (placesBusy - begun.placesBusy) / (seconds * parallel * count),
    age: (ages - begun.ages) / groups,
    dropped: (dropped - begun.dropped) / (groups + dropped - begun.dropped),
  };
}

function lengthOf(random: KeyedRandom): number {
  let drawn = random.unit('steps');
  const index = LENGTHS.findIndex((share) => (drawn -= share) < 0);
  return index === -1 ? LENGTHS.length : index + 1;
}

/** What is to happen, by its time: a binary heap. */
class Clock {
  now = 0;
  readonly #heap: { readonly at: number; readonly order: number; readonly what: () => void }[] = [];
  #order = 0;

  after(seconds: number, what: () => void): void {
    const heap = this.#heap;
    heap.push({ at: this.now + seconds, order: this.#order += 1, what });
    for (let child = heap.length - 1; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!this.#isBefore(child, parent)) break;
      [heap[child], heap[parent]] = [heap[parent]!, heap[child]!];
      child = parent;
    }
  }

  /** Lets the next thing happen. @returns whether there was one */
  next(): boolean {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (!first || !last) return false;
    if (heap.length > 0) {
      heap[0] = last;
      for (let parent = 0; ;) {
        const [left, right] = [2 * parent + 1, 2 * parent + 2];
        const child = right < heap.length && this.#isBefore(right, left) ? right : left;
        if (child >= heap.length || !this.#isBefore(child, parent)) break;
        [heap[child], heap[parent]] = [heap[parent]!, heap[child]!];
        parent = child;
      }
    }
    this.now = first.at;
    first.what();
    return true;
  }

  #isBefore(a: number, b: number): boolean {
    const [first, second] = [this.#heap[a]!, this.#heap[b]!];
    return first.at < second.at || (first.at === second.at && first.order < second.order);
  }
}
