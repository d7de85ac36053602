import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Simulation } from '../../backend/protocol/simulation.ts';
import { BUNDLED_MODEL, workerConfigSchema, workersFileSchema } from '../../backend/protocol/worker-config.ts';
import { SimulatedPool } from '../../backend/server/simulated-pool.ts';
import type { Task } from '../../backend/verify/graders/tasks/grader-spec.ts';
import { readTasks } from '../../backend/verify/graders/tasks/task-file.ts';
import { startSimulation } from '../../backend/wiring/simulation.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { serve, type Serving } from './support/serving.ts';

const SIMULATED = ['sim-fern', 'sim-grove', 'sim-hazel', 'sim-iris', 'sim-juniper'];
const REQUEST = { tasks: [], seed: 1, beside: false };
let folder: string;
const ended = vi.fn(() => Promise.resolve());
const pool = new SimulatedPool({ start: (request) => startSimulation(request, path.join(folder, 'simulation')), ended });

let serving: Serving;
beforeEach(async () => {
  folder = await temporaryFolder();
  serving = await serve({ simulations: pool });
});
afterEach(async () => {
  await pool.end();
  await serving.close();
  ended.mockClear();
});

/** Resolves with the next change of the simulated pool. */
function change(): Promise<void> {
  return new Promise((resolve) => {
    const stop = pool.listen(() => {
      stop();
      resolve();
    });
  });
}

describe('a simulation', () => {
  it('is told to every client when it begins, and ends with the connection of the client that began it', async () => {
    const [owner, other] = await Promise.all([serving.open(), serving.open()]);
    const told = new Promise<void>((resolve) => { other.on('pool/changed', () => resolve()); });
    const simulation = await owner.request('simulation/begin', REQUEST);
    await told;
    expect(simulation.workers.map(({ id, simulated }) => [id, simulated])).toEqual(SIMULATED.map((id) => [id, true]));
    expect((await other.request('simulation/get', {})).simulation).toEqual(simulation);
    other.close();
    expect(pool.current).toMatchObject({ seed: 1 });
    const gone = change();
    owner.close();
    await gone;
    expect(pool.current).toBeUndefined();
    expect(ended).toHaveBeenCalledOnce();
  });

  it('is refused while one runs, and may be ended by any client', async () => {
    const [owner, other] = await Promise.all([serving.open(), serving.open()]);
    await owner.request('simulation/begin', REQUEST);
    await expect(other.request('simulation/begin', REQUEST)).rejects.toMatchObject({ kind: 'simulation-running', message: expect.stringContaining('end it first') });
    await other.request('simulation/end', {});
    expect((await owner.request('simulation/get', {})).simulation).toBeNull();
    await other.request('simulation/begin', REQUEST);
    // It is not this client's, who began the one before.
    const left = new Promise((resolve) => { serving.clients.onCountChanged(() => resolve(undefined)); });
    owner.close();
    await left;
    expect(pool.current).toBeDefined();
  });

  it('ends though its client leaves before it has begun', async () => {
    const owner = await serving.open();
    const both = change().then(change);
    owner.request('simulation/begin', REQUEST).catch(() => undefined);
    await serving.open().then((client) => client.request('simulation/get', {}));
    owner.close();
    await both;
    expect(pool.current).toBeUndefined();
  });

  it('does not begin with a file that has no tasks', async () => {
    const owner = await serving.open();
    const beginWith = async (name: string, text?: string): Promise<Simulation> => {
      if (text !== undefined) await writeFile(path.join(folder, name), text);
      return await owner.request('simulation/begin', { ...REQUEST, tasks: [path.join(folder, name)] });
    };
    // Each is told as it is, and not as a fault of the backend.
    await expect(beginWith('none.jsonl')).rejects.toMatchObject({ kind: 'task-file', message: expect.stringContaining('no such file') as string });
    await expect(beginWith('half.jsonl', '{"problem":"1 + 1?","ans')).rejects.toMatchObject({ kind: 'task-file', message: expect.stringContaining('line 1: this is not JSON') as string });
    await expect(beginWith('empty.jsonl', '')).rejects.toMatchObject({ kind: 'task-file', message: expect.stringMatching(/^There is no task in .*empty\.jsonl\.$/) as string });
    expect(pool.current).toBeUndefined();
  });

  it('has a folder with tasks whose grader and settings a training reads, and answers at the address of the one before', async () => {
    const first = await pool.begin(REQUEST);
    const tasks: Task[] = [];
    for await (const task of readTasks(path.join(first.folder, 'conductor.tasks.jsonl'))) tasks.push(task);
    expect(tasks.length).toBe(40);
    expect(new Set(tasks.map(({ grader }) => grader.kind))).toEqual(new Set(['cases']));
    expect(JSON.parse(await readFile(path.join(first.folder, 'conductor.train.json'), 'utf8'))).toMatchObject({ tasks: { project: false } });
    await pool.end();
    expect((await pool.begin(REQUEST)).workers.map(({ baseUrl }) => baseUrl)).toEqual(first.workers.map(({ baseUrl }) => baseUrl));
  });
});

describe('the pool of questions and trainings', () => {
  const mine = workerConfigSchema.parse({ id: 'mine', provider: 'openai', model: 'gpt', price: { inputPerMillion: 1, outputPerMillion: 4 } });
  const local = workerConfigSchema.parse({ id: 'here', provider: 'local', model: '/models/here' });
  const file = workersFileSchema.parse({ version: 1, conductor: 'mine', workers: [mine, local] });
  const enabledIn = (simulation: Pick<Simulation, 'beside'>, conductor?: string): Promise<{ conductor: string | undefined; enabled: string[]; usd: number[] }> =>
    pool.begin({ ...REQUEST, ...simulation }).then(() => {
      const { conductor: planner, workers } = pool.over({ ...file, conductor });
      const enabled = workers.filter((worker) => worker.enabled);
      return { conductor: planner, enabled: enabled.map(({ id }) => id), usd: enabled.filter(({ simulated }) => simulated).map(({ price }) => price?.outputPerMillion ?? NaN) };
    });

  it('is the file itself while nothing is simulated', () => {
    expect(pool.over(file)).toBe(file);
  });

  it('has simulated workers alone, at no cost, and nobody who is paid plans', async () => {
    expect(await enabledIn({ beside: false }, 'mine')).toEqual({ conductor: undefined, enabled: SIMULATED, usd: SIMULATED.map(() => 0) });
  });

  it.each([BUNDLED_MODEL, 'here'])('lets a model of this machine plan on: %s', async (conductor) => {
    expect((await enabledIn({ beside: false }, conductor)).conductor).toBe(conductor);
  });

  it('has both where asked, and everyone plans as before', async () => {
    expect(await enabledIn({ beside: true }, 'mine')).toMatchObject({ conductor: 'mine', enabled: ['mine', 'here', ...SIMULATED] });
  });
});
