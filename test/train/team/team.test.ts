import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { teamKeys } from '../../../backend/protocol/client/team-keys.ts';
import { TrainingRefusedError } from '../../../backend/train/trainings/training-error.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { unequalAnswer } from '../../support/unequal-workers.ts';
import type { SimulatedTinker } from '../remote/simulated-tinker.ts';
import { freePort } from '../../support/free-port.ts';
import { Machine, settings, startTinker } from './team-setup.ts';

/* Machines that train one Conductor on a simulated training server. Their backends end in the middle of what they do; test/train/team/killed.test.ts kills processes. */

let folder: string;
let tinker: SimulatedTinker;
let port: number;
const machines: Machine[] = [];

beforeEach(async () => {
  folder = await temporaryFolder();
  tinker = await startTinker(path.join(folder, 'small'));
  port = await freePort();
});
afterEach(async () => {
  for (const machine of machines.splice(0)) await machine.close();
  await tinker.close();
});

async function machine(name: string, keys: Readonly<Record<string, string>> = {}): Promise<Machine> {
  const made = await Machine.start({ folder: path.join(folder, name), model: path.join(folder, 'small'), keys });
  machines.push(made);
  return made;
}

/** A coordinator and members. */
async function team<Names extends readonly string[]>(...names: Names): Promise<{ readonly coordinator: Machine; readonly members: { [Place in keyof Names]: Machine }; readonly keys: readonly string[] }> {
  const kept = teamKeys(path.join(folder, 'coordinator', 'home'));
  const coordinator = await machine('coordinator');
  const keys = await names.reduce(async (made, name) => [...await made, await kept.add(name, {})], Promise.resolve<string[]>([]));
  const members = [];
  for (const [index, name] of names.entries()) members.push(await machine(name, { TEAM_KEY: keys[index]! }));
  return { coordinator, members: members as { [Place in keyof Names]: Machine }, keys };
}

interface Coordinates {
  readonly members?: number;
  readonly wait?: number;
  readonly oldest?: number;
}

const coordinate = async (machine: Machine, team: Coordinates = {}, more: Readonly<Record<string, unknown>> = {}): Promise<string> => {
  const { trainingId } = await machine.manager.start({ workspace: machine.workspace, config: settings(tinker.url, { ...more, team: { port, wait: 60, ...team } }) });
  await machine.until(trainingId, ({ state }) => state !== 'preparing');
  return trainingId;
};

/** What differs from the coordinator's settings is told by it. */
const joining = (seed: number, more: Readonly<Record<string, unknown>> = {}) =>
  settings(tinker.url, { seed, steps: 9, groupSize: 9, team: { join: `http://127.0.0.1:${port}`, key: 'TEAM_KEY' }, ...more });

const join = async (machine: Machine, seed: number, more: Readonly<Record<string, unknown>> = {}): Promise<string> =>
  (await machine.manager.start({ workspace: machine.workspace, config: joining(seed, more) })).trainingId;

/** The number of examples of each step that the weights at the end have learned from. */
function learnedFrom(): number[] {
  const longest = [...tinker.saved.values()].reduce((most, weights) => (weights.length > most.length ? weights : most), []);
  return longest.map((step) => step.split(' ').length - 1);
}

/** Holds what a worker says until it is let go on; `held` resolves when something is held. */
function gate(machine: Machine, isHeld: () => boolean) {
  const [held, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  machine.script = (request) => {
    if (!isHeld()) return unequalAnswer(request);
    held.resolve();
    return { begin: '', rest: open.promise.then(() => unequalAnswer(request) as string) };
  };
  return { held: held.promise, open: open.resolve };
}

describe('a team', { timeout: 60_000 }, () => {
  it('learns from the plans of all in one batch, and each compares on its own tasks', async () => {
    const { coordinator, members: [ann, ben] } = await team('ann', 'ben');
    const id = await coordinate(coordinator, { members: 2 });
    await coordinator.until(id, ({ message }) => message === 'Waiting for 2 members to join.');
    const [first, second] = [await join(ann, 1), await join(ben, 2)];
    const training = await coordinator.over(id);
    expect(training).toMatchObject({
      state: 'completed', step: 2,
      members: [{ name: 'ann', groups: 4, plans: 16 }, { name: 'ben', groups: 4, plans: 16 }],
      metrics: [{ 'team/members': 2, 'team/groups': 4, 'team/versions_old': 0 }, { 'team/members': 2, 'team/groups': 4 }],
    });
    expect(learnedFrom()).toEqual(training.metrics.map(({ examples }) => examples));
    // More than the eight plans of the coordinator alone.
    expect(Math.max(...learnedFrom())).toBeGreaterThan(8);
    for (const [machine, own] of [[ann, first], [ben, second]] as const) {
      const joined = await machine.over(own);
      expect(joined).toMatchObject({ state: 'completed', step: 2, comparison: { pairs: 3 }, config: { steps: 2, groupSize: 4, team: { training: id } } });
      expect(joined.metrics).toEqual([expect.objectContaining({ format_rate: 1 }), expect.objectContaining({ format_rate: 1 })]);
      // What could be adopted was brought here.
      expect(await readdir(path.join(machine.home, 'trainings', own, 'versions', 'step-000002'))).toContain('adapter_model.safetensors');
    }
    // More tries need nobody else.
    await coordinator.end();
    await ann.manager.resume(first);
    await ann.until(first, ({ state }) => state === 'evaluating');
    expect(await ann.over(first)).toMatchObject({ state: 'completed', comparison: { pairs: 6 } });
  });

  it('says before it starts what leaves, and nothing else does', async () => {
    const { coordinator, members: [ann] } = await team('ann');
    const id = await coordinate(coordinator);
    const { terms, config } = await ann.manager.check({ workspace: ann.workspace, config: joining(1) });
    expect(terms!.join(' ')).toMatch(/The coordinator http:\/\/127\.0\.0\.1:\d+ gets, .* token ids .*It gets no text, no file/);
    expect(config).toMatchObject({ steps: 2, groupSize: 4, seed: 1 });
    const own = await join(ann, 1);
    await coordinator.over(id);
    await ann.over(own);
    const outbox = path.join(ann.home, 'trainings', own, 'outbox');
    for (const name of await readdir(outbox)) {
      const left = JSON.parse(await readFile(path.join(outbox, name), 'utf8')) as { completions: object[] };
      expect(Object.keys(left).sort()).toEqual(['completions', 'instance', 'of', 'place', 'prompts', 'seconds', 'step', 'version']);
      for (const plan of left.completions) expect(Object.keys(plan).sort()).toEqual(['finishReason', 'logprobs', 'outcome', 'prompt', 'tokens']);
    }
  });

  it('has a member that ends in the middle of a step go on without paying twice', async () => {
    const { coordinator, members: [ann] } = await team('ann');
    const undisturbed = await coordinate(coordinator);
    await ann.over(await join(ann, 1, { sharedSteps: false }));
    await coordinator.over(undisturbed);
    const [asked, batches] = [ann.asked, learnedFrom()];

    tinker.saved.clear();
    const id = await coordinate(coordinator);
    let answers = 0;
    const { held, open } = gate(ann, () => (answers += 1) > 3);
    const own = await join(ann, 1, { sharedSteps: false });
    await held;
    await ann.until(own, ({ rollouts }) => rollouts?.list.filter(({ outcome }) => outcome !== 'running').length === 3);
    await ann.end();
    ann.script = unequalAnswer;
    open();
    await ann.begin();
    expect(await coordinator.over(id)).toMatchObject({ state: 'completed', members: [{ name: 'ann', groups: 4, plans: 16 }] });
    await ann.over(own);
    expect(learnedFrom()).toEqual(batches);
    // Those that were held are asked again, and no others.
    const again = answers - 3;
    expect(ann.asked - asked).toBe(asked + again);
  });

  it('has a coordinator that ends in the middle of a step go on with what members hand in again', async () => {
    const { coordinator, members: [ann, ben] } = await team('ann', 'ben');
    const id = await coordinate(coordinator, { members: 2 });
    const { held, open } = gate(ben, () => true);
    const [first, second] = [await join(ann, 1), await join(ben, 2)];
    await held;
    await ann.until(first, ({ progress }) => progress?.done === 2);
    const asked = ann.asked;
    await coordinator.end();
    expect((await ann.until(first, ({ state }) => state === 'waiting')).message).toMatch(/^The coordinator http:.* does not answer \(\w+\): /);
    await coordinator.begin();
    await coordinator.until(id, ({ members = [] }) => members.filter(({ isHere }) => isHere).length === 2);
    expect(ann.asked).toBe(asked);
    ben.script = unequalAnswer;
    open();
    expect(await coordinator.over(id)).toMatchObject({ state: 'completed', members: [{ groups: 4, plans: 16 }, { groups: 4, plans: 16 }] });
    await Promise.all([ann.over(first), ben.over(second)]);
    expect(learnedFrom()).toHaveLength(2);
  });

  it('goes on where the training server was started again, and forgot its versions, between two steps', async () => {
    const { coordinator, members: [ann] } = await team('ann');
    const id = await coordinate(coordinator);
    const { open } = gate(coordinator, () => coordinator.manager.get(id).step === 1);
    const own = await join(ann, 1);
    await coordinator.until(id, ({ step }) => step === 1);
    tinker.forget();
    // The coordinator has sampled by the time that its workers are asked, or makes its model anew because ann misses it.
    await ann.until(own, ({ step }) => step === 1);
    open();
    expect(await coordinator.over(id)).toMatchObject({ state: 'completed', step: 2, members: [{ groups: 4, plans: 16 }] });
    expect(await ann.over(own)).toMatchObject({ state: 'completed', step: 2 });
    expect(learnedFrom()).toHaveLength(2);
  });

  it('lets a member compare after the coordinator has ended, with the last weights as its own', async () => {
    const { coordinator, members: [ann] } = await team('ann');
    const id = await coordinate(coordinator);
    let isOver = false;
    const { held, open } = gate(ann, () => isOver);
    const own = await join(ann, 1);
    await coordinator.until(id, ({ state }) => state === 'evaluating');
    isOver = true;
    await held;
    await coordinator.over(id);
    await coordinator.end();
    open();
    expect(await ann.over(own)).toMatchObject({ state: 'completed', comparison: expect.objectContaining({ pairs: expect.any(Number) as number }) as object });
    expect(tinker.calls.filter(({ verb }) => verb === 'load_weights')).toHaveLength(1);
    expect(tinker.models.size).toBe(0);
  });

  it('ends where the coordinator is cancelled, and its members compare what was learned by then', async () => {
    const { coordinator, members: [ann] } = await team('ann');
    const id = await coordinate(coordinator);
    const own = await join(ann, 1);
    const { held, open } = gate(ann, () => ann.manager.get(own).step === 1);
    await held;
    await coordinator.manager.cancel(id);
    expect(coordinator.manager.get(id).state).toBe('cancelled');
    await coordinator.end();
    open();
    expect(await ann.over(own)).toMatchObject({ state: 'completed', step: 1, comparison: expect.objectContaining({ pairs: expect.any(Number) as number }) as object });
  });

  it('ends with nothing where the coordinator is cancelled before the first step', async () => {
    const { coordinator, members: [ann] } = await team('ann');
    const id = await coordinate(coordinator);
    const { held, open } = gate(coordinator, () => true);
    const own = await join(ann, 1);
    await held;
    await ann.until(own, ({ progress }) => progress?.done === 2);
    await coordinator.manager.cancel(id);
    open();
    expect(await ann.over(own)).toMatchObject({ state: 'completed', learned: false, message: 'The team learned nothing, so there is nothing to adopt.' });
  });

  it('goes on without a member that is too slow, which stops what would come too late', async () => {
    const { coordinator, members: [ann] } = await team('ann');
    const id = await coordinate(coordinator, { wait: 0.2 });
    const { held, open } = gate(ann, () => true);
    const own = await join(ann, 1);
    await held;
    const training = await coordinator.until(id, ({ step }) => step === 2);
    expect(training.metrics.map((step) => step['team/groups'])).toEqual([0, 0]);
    open();
    await coordinator.over(id);
    expect(await ann.over(own)).toMatchObject({ state: 'completed', step: 2 });
  });

  it('takes plans of older versions where that is set, each once, also over an end of the coordinator', async () => {
    const { coordinator, members: [ann] } = await team('ann');
    const id = await coordinate(coordinator, { wait: 60, oldest: 1 }, { steps: 3 });
    const { held, open } = gate(ann, () => true);
    const own = await join(ann, 1);
    await held;
    // The step does not wait for plans that can go into the next one.
    await coordinator.until(id, ({ step }) => step === 1);
    await coordinator.end();
    ann.script = unequalAnswer;
    open();
    await coordinator.begin();
    const training = await coordinator.over(id);
    expect(training).toMatchObject({ state: 'completed', message: expect.stringContaining('held-out') });
    expect(training.metrics[0]).toMatchObject({ 'team/groups': 0 });
    expect(training.metrics[1]).toMatchObject({ 'team/versions_old': 1 });
    const counted = training.metrics.reduce((sum, step) => sum + step['team/groups']!, 0);
    expect(training.members).toMatchObject([{ groups: counted }]);
    // Two groups of each of three versions at most.
    expect(counted).toBeLessThanOrEqual(6);
    expect(learnedFrom()).toEqual(training.metrics.map(({ examples }) => examples));
    await ann.over(own);
  });

  it('has a member that is faster go on with plans for the next step, and no further than they may be old', async () => {
    const { coordinator, members: [ann] } = await team('ann');
    const { held, open } = gate(coordinator, () => true);
    const id = await coordinate(coordinator, { oldest: 1 }, { steps: 4 });
    const own = await join(ann, 1);
    await held;
    const outbox = path.join(ann.home, 'trainings', own, 'outbox');
    const left = async (): Promise<readonly string[]> => (await readdir(outbox).catch(() => [])).sort();
    await vi.waitFor(async () => expect(await left()).toEqual(['0.0.json', '0.1.json', '1.0.json', '1.1.json']), { timeout: 20_000 });
    const asked = ann.asked;
    coordinator.script = unequalAnswer;
    expect(await left()).toHaveLength(4);
    expect(ann.asked).toBe(asked);
    open();
    const training = await coordinator.over(id);
    expect(training.metrics.slice(0, 2)).toMatchObject([{ 'team/groups': 2, 'team/versions_old': 0 }, { 'team/groups': 2, 'team/versions_old': 1 }]);
    expect(training.members).toMatchObject([{ groups: training.metrics.reduce((sum, step) => sum + step['team/groups']!, 0) }]);
    expect(Math.max(...training.metrics.map((step) => step['team/versions_old']!))).toBe(1);
    expect(learnedFrom()).toEqual(training.metrics.map(({ examples }) => examples));
    expect(await ann.over(own)).toMatchObject({ state: 'completed', step: 4 });
  });

  it('holds the budget of each, and does not wait for one whose budget is spent', async () => {
    const { coordinator, members: [ann] } = await team('ann');
    const id = await coordinate(coordinator);
    const own = await join(ann, 1, { budget: { usd: 0.0006 } });
    const paused = await ann.over(own);
    expect(paused).toMatchObject({ state: 'paused', stopped: { by: 'usd', limit: 0.0006 } });
    expect(paused.spentUsd).toBeLessThanOrEqual(0.0006);
    const training = await coordinator.over(id);
    expect(training).toMatchObject({ state: 'completed', step: 2 });
    expect(training.spentUsd).toBeLessThanOrEqual(10);
    await expect(ann.manager.finish(own)).rejects.toThrow(/No step is done yet/);
  });

  it('is refused where it cannot be, with a sentence', async () => {
    const { coordinator, members: [ann] } = await team('ann');
    const start = (machine: Machine, config: ReturnType<typeof settings>) => machine.manager.check({ workspace: machine.workspace, config });
    await expect(start(coordinator, { ...settings(tinker.url, { team: {} }), engine: 'local' })).rejects.toThrow(/A team trains on a server that all of its machines reach/);
    await expect(start(coordinator, settings(tinker.url, { team: { oldest: 1 }, loss: { importanceLimit: 0 } }))).rejects.toThrow(/set "loss.importanceLimit" above 0/);
    await expect(start(ann, joining(1))).rejects.toThrow(/does not answer \(ECONNREFUSED\)/);
    const id = await coordinate(coordinator);
    const stranger = await machine('stranger', { TEAM_KEY: 'cond-guessed' });
    await expect(start(stranger, joining(1))).rejects.toThrow(/does not know the key TEAM_KEY/);
    await expect(start(stranger, joining(1))).rejects.toBeInstanceOf(TrainingRefusedError);
    await expect(start(await machine('keyless'), joining(1))).rejects.toThrow(/The key TEAM_KEY of this member is not set/);
    await expect(start(ann, joining(1, { engine: { kind: 'remote', url: tinker.url, model: 'other' } }))).rejects.toThrow(/The team trains "small" and this machine would sample from "other"/);
    await coordinator.manager.cancel(id);
  });

  it('does not go on with a member whose key was taken back', async () => {
    const { coordinator, members: [ann] } = await team('ann');
    const id = await coordinate(coordinator);
    const { held, open } = gate(ann, () => true);
    const own = await join(ann, 1);
    await held;
    await teamKeys(coordinator.home).remove('ann');
    open();
    expect(await ann.over(own)).toMatchObject({ state: 'failed', message: expect.stringMatching(/does not know the key TEAM_KEY/) });
    await coordinator.manager.cancel(id);
  });
});
