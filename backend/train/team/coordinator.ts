import { isDeepStrictEqual } from 'node:util';
import type { KeyHolder } from '../../common/hashed-keys.ts';
import { unlessAborted } from '../../common/unless-aborted.ts';
import type { TeamMember } from '../../protocol/training.ts';
import type { Givers } from '../grpo/givers.ts';
import type { JudgedCompletion, StepMetrics } from '../grpo/grpo-step.ts';
import { type GroupLimits, groupProblem, numbersIn } from './check-group.ts';
import { judgedGroup } from './given-group.ts';
import type { GivenGroup, Share, Taken, TeamAsk, TeamState, TeamTerms } from './team-messages.ts';
import { TeamError } from './team-error.ts';

export interface CoordinatorOptions {
  readonly terms: TeamTerms;
  readonly limits: GroupLimits;
  /** How many members have to be there before the first step. */
  readonly members: number;
  /** The most seconds that a step waits for members once the coordinator's own plans are judged. */
  readonly wait: number;
  /** Of the training before this process: the names of groups that count already, and what members gave. */
  readonly counted: readonly string[];
  readonly given: readonly TeamMember[];
  /** Whether steps were made before: a member that is gone since is then waited for no longer than in every other step. */
  readonly isResumed: boolean;
  /** Where the training server keeps the latest version. */
  readonly latest: () => string | undefined;
  /** Where it keeps the weights of that version. */
  readonly saved: () => string | undefined;
  /** Has the training server have the latest version, where it lost it. */
  readonly renew: () => Promise<void>;
  /** Called with what members gave whenever that or their presence changes. */
  readonly onChange: (members: readonly TeamMember[]) => void;
  /** Called with what is waited for, and with undefined when the training goes on. */
  readonly onWaiting: (message: string | undefined) => void;
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly now: () => number;
  /** The most numbers (token ids, log-probabilities) that are held of a member. */
  readonly mostNumbers?: number | undefined;
  /** How long a question of a member is held where there is nothing new. */
  readonly holdMs?: number | undefined;
  /** How long a member is there after it was last heard from. */
  readonly presenceMs?: number | undefined;
}

/** Longer than the pause between two questions of a member, however the connection is. */
const PRESENCE_MS = 60_000;
const HOLD_MS = 20_000;
/** The most numbers that are held of a member; 64 groups of 64 plans with prompts of 2,000 tokens of their own are some 10 million. */
const MOST_NUMBERS = 64_000_000;
/** How often it is looked whether a member is still there. */
const LOOK_MS = 1_000;

interface Member {
  readonly holder: KeyHolder;
  readonly instance: string;
  /** When it was last heard from, and how many of its questions are held. */
  heard: number;
  asking: number;
  working: Share | undefined;
}

/** A group that need not be handed in again. */
interface Held extends Share {
  /** The id of the key. */
  readonly member: string;
  readonly instance: string;
  readonly place: number;
  /** Undefined once it counts. */
  group: GivenGroup | undefined;
  /** Who gave it; not known of groups that an earlier process counted. */
  readonly holder?: KeyHolder | undefined;
}

/** The member of this key is another one than before. */
export class OtherMemberError extends TeamError {}

/** Names a group. Neither part has a space in it. */
const nameOf = ({ member, instance, step, place }: Pick<Held, 'member' | 'instance' | 'step' | 'place'>): string => [member, instance, step, place].join(' ');

/**
 * Takes what members hand in and gives it to the training, each group at most once. It is alone with its state: a member that does not find its groups among those
 * that are held, because this process or the connection ended, hands them in again.
 */
export class Coordinator implements Givers {
  readonly #options: CoordinatorOptions;
  readonly #members = new Map<string, Member>();
  readonly #given = new Map<string, TeamMember>();
  readonly #held = new Map<string, Held>();
  /** Differs from that of each earlier process. */
  readonly #life: string;
  #changes = 0;
  #changed = Promise.withResolvers<void>();
  #step = 0;
  #isOpen = false;
  #over: TeamState['over'];
  #hasBegun = false;
  #figures: StepMetrics = {};
  #renewing: Promise<void> | undefined;

  constructor(options: CoordinatorOptions) {
    this.#options = options;
    this.#life = options.now().toString(36);
    for (const one of options.given) this.#given.set(one.name, { ...one, isHere: false });
    for (const name of options.counted) {
      // Before there were versions apart from steps, both were the same.
      const [member = '', instance = '', step = '', place = '', version = step] = name.split(' ');
      const one = { member, instance, step: Number(step), place: Number(place), version: Number(version), group: undefined };
      this.#held.set(nameOf(one), one);
    }
  }

  get terms(): TeamTerms {
    return this.#options.terms;
  }

  get counted(): readonly string[] {
    return [...this.#held].filter(([, { group }]) => group === undefined).map(([name, { version }]) => `${name} ${version}`);
  }

  /** By name. */
  get members(): readonly TeamMember[] {
    return [...this.#given.values()].sort((a, b) => a.name.localeCompare(b.name)).map((one) => ({ ...one, isHere: this.#here().some(({ holder }) => holder.name === one.name) }));
  }

  // What members ask.

  /** How things stand, once that is other than what the member knows, or after a while. @throws OtherMemberError, the signal's reason */
  async state(holder: KeyHolder, { instance, revision, working, lost }: TeamAsk, signal: AbortSignal): Promise<TeamState> {
    const member = this.#heard(holder, instance);
    if (lost !== undefined && lost === this.#options.latest()) this.#renewing ??= this.#renewLatest();
    if (!isDeepStrictEqual(member.working, working)) {
      member.working = working;
      this.#wake();
    }
    member.asking += 1;
    try {
      const { holdMs = HOLD_MS, delay } = this.#options;
      const ended = new AbortController();
      const held = AbortSignal.any([signal, ended.signal]);
      const late = delay(holdMs, held).then(() => true, () => true);
      for (let isLate = false; !isLate && revision === this.#revision;) isLate = await unlessAborted(Promise.race([late, this.#changed.promise.then(() => false)]), signal);
      ended.abort();
    } finally {
      member.asking -= 1;
      member.heard = this.#options.now();
    }
    const held = [...this.#held.values()].filter((one) => one.member === holder.id && one.instance === instance).map(({ step, place }) => ({ step, place }));
    const [sampler, weights] = [this.#options.latest(), this.#options.saved()];
    return { revision: this.#revision, step: this.#step, ...(sampler !== undefined && { sampler }), ...(weights !== undefined && { weights }), isOpen: this.#isOpen, held, ...(this.#over && { over: this.#over }) };
  }

  /** @throws TeamError where it is no group of this training, OtherMemberError */
  take(holder: KeyHolder, group: GivenGroup): Taken {
    const member = this.#heard(holder, group.instance);
    const { step, version, place } = group;
    const { oldest } = this.#options.terms;
    const problem = version > this.#step ? `it is of version ${version}, which is not there yet`
      : version > step || version < step - oldest ? `it is of version ${version}, and step ${step + 1} takes ${oldest === 0 ? `version ${step} alone` : `versions from ${Math.max(0, step - oldest)} to ${step}`}`
        : groupProblem(group, this.#options.limits);
    if (problem !== undefined) throw new TeamError(`The group was not taken: ${problem}.`);
    const one = { member: holder.id, instance: member.instance, step, version, place };
    const name = nameOf(one);
    if (this.#held.has(name)) return 'held';
    // What a closed step has not got goes into the next one, if it is not too old by then.
    if (this.#over || Math.max(step, this.#isOpen ? this.#step : this.#step + 1) - version > oldest) return 'late';
    const held = [...this.#held.values()].reduce((sum, other) => sum + (other.group && other.member === holder.id ? numbersIn(other.group) : 0), 0);
    if (held + numbersIn(group) > (this.#options.mostNumbers ?? MOST_NUMBERS)) {
      throw new TeamError('The group was not taken: so much of this member waits for the next step already. Make "tasksPerStep" or "groupSize" smaller.');
    }
    this.#held.set(name, { ...one, group, holder });
    this.#wake();
    return 'held';
  }

  /** The member gives no more for now. */
  leave(holder: KeyHolder, instance: string): void {
    if (this.#members.get(holder.id)?.instance !== instance) return;
    this.#members.delete(holder.id);
    this.#tell();
    this.#wake();
  }

  // What the training asks.

  async begin(step: number, signal: AbortSignal): Promise<void> {
    this.#step = step;
    this.#isOpen = true;
    this.#renew();
    if (!this.#hasBegun) await this.#untilThere(signal);
    this.#hasBegun = true;
  }

  async groups(step: number, signal: AbortSignal): Promise<readonly (readonly JudgedCompletion[])[]> {
    const { terms: { oldest } } = this.#options;
    await this.#wait(() => this.#here().filter((member) => !this.#hasGiven(member)), (missing) => `Waiting for the plans of ${named(missing)}.`, { most: this.#options.wait, signal });
    this.#isOpen = false;
    // In an order of their own: the same groups make the same batch.
    const taken = [...this.#held.values()].filter((one) => one.group && one.step <= step).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    const groups = taken.map((one) => this.#count(one));
    this.#figures = { 'team/members': new Set(taken.map(({ member }) => member)).size, 'team/groups': groups.length, 'team/versions_old': Math.max(0, ...taken.map(({ version }) => step - version)) };
    for (const [name, one] of this.#held) if (step + 1 - one.version > oldest) this.#held.delete(name);
    this.#renew();
    this.#tell();
    return groups;
  }

  metrics(): StepMetrics {
    return this.#figures;
  }

  /** No further step is made. @param step those that are done */
  end(step: number, over: NonNullable<TeamState['over']>): void {
    this.#step = step;
    this.#isOpen = false;
    this.#over = over;
    this.#renew();
  }

  /** The training was cancelled: what is learned so far is all, if there is something. */
  cancel(): void {
    if (!this.#over) this.end(this.#step, { hasLearned: this.#step > 0 });
  }

  /** Waits until members have heard that it is over, and left; at most so long, since some may be away. */
  async dismissed(mostMs: number): Promise<void> {
    const { now, delay } = this.#options;
    const ended = new AbortController();
    for (const until = now() + mostMs; this.#over && this.#here().length > 0 && now() < until;) {
      await Promise.race([this.#changed.promise, delay(until - now(), ended.signal).catch(() => {})]);
    }
    ended.abort();
  }

  /** Its new place is told to members. What is wrong with the server, the training itself finds. */
  async #renewLatest(): Promise<void> {
    await this.#options.renew().catch(() => {});
    this.#renewing = undefined;
    this.#renew();
  }

  #count(held: Held): JudgedCompletion[] {
    const group = judgedGroup(held.group!);
    held.group = undefined;
    const name = held.holder?.name ?? held.member;
    const before = this.#given.get(name) ?? { name, isHere: true, groups: 0, plans: 0, costUsd: 0 };
    const costUsd = group.reduce((sum, { outcome, revised }) => sum + [outcome, revised].reduce((both, one) => both + (one?.kind === 'judged' ? one.costUsd : 0), 0), before.costUsd);
    this.#given.set(name, { ...before, groups: before.groups + 1, plans: before.plans + group.length, costUsd });
    return group;
  }

  #heard(holder: KeyHolder, instance: string): Member {
    const { now } = this.#options;
    const known = this.#members.get(holder.id);
    if (known && known.instance !== instance && this.#isHere(known)) {
      throw new OtherMemberError(`Another training uses the key of "${holder.name}": cancel that one, wait a minute, or ask for a key of your own.`);
    }
    const member = known?.instance === instance ? known : { holder, instance, heard: 0, asking: 0, working: undefined };
    const isNew = !this.#isHere(member);
    member.heard = now();
    this.#members.set(holder.id, member);
    if (!this.#given.has(holder.name)) this.#given.set(holder.name, { name: holder.name, isHere: true, groups: 0, plans: 0, costUsd: 0 });
    if (isNew) {
      this.#tell();
      this.#wake();
    }
    return member;
  }

  #isHere({ heard, asking }: Member): boolean {
    const { now, presenceMs = PRESENCE_MS } = this.#options;
    return asking > 0 || now() - heard < presenceMs;
  }

  #here(): Member[] {
    return [...this.#members.values()].filter((member) => this.#isHere(member));
  }

  /** Whether nothing that a member works on would be too old for the next step. */
  #hasGiven({ holder, instance, working = { step: this.#step, version: this.#step } }: Member): boolean {
    if (working.version > this.#step - this.#options.terms.oldest) return true;
    const held = [...this.#held.values()].filter((one) => one.member === holder.id && one.instance === instance && one.step === working.step);
    // Groups that count already were all there.
    return held.length > 0 && held.every(({ group }) => held.length >= (group?.of ?? 0));
  }

  async #untilThere(signal: AbortSignal): Promise<void> {
    const { members, isResumed, wait } = this.#options;
    const missing = (): number[] => Array.from({ length: Math.max(0, members - this.#here().length) }, (_, index) => index);
    await this.#wait(missing, ({ length }) => `Waiting for ${length === 1 ? 'a member' : `${length} members`} to join.`, { most: isResumed ? wait : undefined, signal });
  }

  /** Waits until nothing is missing, at most so many seconds. */
  async #wait<T>(missing: () => readonly T[], words: (missing: readonly T[]) => string, { most, signal }: { readonly most: number | undefined; readonly signal: AbortSignal }): Promise<void> {
    const { now, delay, onWaiting } = this.#options;
    const began = now();
    let told: string | undefined;
    for (let found = missing(); found.length > 0; found = missing()) {
      const left = most === undefined ? LOOK_MS : 1_000 * most - (now() - began);
      if (left <= 0) break;
      const message = words(found);
      if (message !== told) onWaiting(message);
      told = message;
      const ended = new AbortController();
      const looked = delay(Math.min(LOOK_MS, left), AbortSignal.any([signal, ended.signal])).catch(() => {});
      await unlessAborted(Promise.race([looked, this.#changed.promise]), signal);
      ended.abort();
    }
    if (told !== undefined) onWaiting(undefined);
  }

  get #revision(): string {
    return `${this.#life}.${this.#changes}`;
  }

  /** Members are told. */
  #renew(): void {
    this.#changes += 1;
    this.#wake();
  }

  /** Whoever waits for something looks again. */
  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  #tell(): void {
    this.#options.onChange(this.members);
  }
}

const named = (members: readonly Member[]): string => members.map(({ holder }) => holder.name).join(', ');
