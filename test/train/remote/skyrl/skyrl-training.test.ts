import { globSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { conductorPrompt } from '../../../../backend/conductor/conductor-prompt.ts';
import { PROMPT_PROFILES } from '../../../../backend/conductor/prompt-profile.ts';
import { openTokenizer } from '../../../../backend/lm/tokenizer/tokenizer.ts';
import { LocalModel } from '../../../../backend/lm/local-model.ts';
import { isProcessAlive } from '../../../../backend/protocol/client/process-alive.ts';
import { trainingSchema, type Training } from '../../../../backend/protocol/training.ts';
import { workerConfigSchema, type WorkerConfig } from '../../../../backend/protocol/worker-config.ts';
import type { StartedSimulation } from '../../../../backend/server/simulated-pool.ts';
import { openRemoteEngine } from '../../../../backend/train/engines/open-remote-engine.ts';
import { stepName } from '../../../../backend/train/grpo/checkpoint-store.ts';
import { startSimulation } from '../../../../backend/wiring/simulation.ts';
import { conductorCommand } from '../../../cli/run-conductor.ts';
import { freePort } from '../../../support/free-port.ts';
import { SHORT_MODEL } from '../../../lab/gym/short-training.ts';
import { trySandbox } from '../../../verify/setup.ts';
import { writeMiniAsLlama } from '../mini-as-llama.ts';
import { installedSkyRl } from './installed-skyrl.ts';
import { SkyRlServer } from './skyrl-server.ts';

/*
 * A whole training over a real SkyRL on the processors of this machine, as people start it: the command line, the backend, the gym's simulated
 * workers on their wire formats, answers that are executed. Beside it the same training by this machine alone. Both sides are killed.
 */

const sandbox = await trySandbox();
const skyrl = installedSkyRl();
const note = !sandbox.available ? sandbox.note : skyrl ? `SkyRL ${skyrl.version}` : 'not tried: SkyRL is not installed; node with-node.mjs node test/train/remote/skyrl/install-skyrl.ts';

/** Half of its first texts are no plans: a model of 0.4 million weights, of which some steps make a better one. */
const CONFIG = {
  seed: 3, steps: 8, tasksPerStep: 4, groupSize: 12, carriedOut: 48, unpaidUpdates: 0, parallel: 16, maxTokens: 128,
  learningRate: { peak: 5e-3, schedule: 'constant' }, adapter: { rank: 8 },
  tasks: { project: false, heldOut: 0.25 }, evaluation: { samples: 1, onTheWay: 0 },
};
const LAST = stepName(CONFIG.steps);
/** The same in small, for each of three machines. */
const TEAM = { ...CONFIG, steps: 3, tasksPerStep: 2, groupSize: 6 };
const MEMBERS = ['ann', 'ben'];
/** One for both trainings, since JAX compiles for each number of adapters anew. A place is the model's own; a training takes one, a killed one keeps its place for a while, and so do members that compare. */
const SERVER = { max_lora_adapters: 6, max_lora_rank: 8, train_micro_batch_size: 8, sample_max_num_sequences: 12 };
/** Tokens of a prompt. JAX compiles for lengths of two binary digits, half a minute for each; so all have the same one. */
const PROMPT_LENGTHS = { over: 96, most: 128 };

/** This machine alone, the one with the server, and those of a team. */
const SIDES = ['here', 'there', 'coordinator', ...MEMBERS];

const { places, start, run } = conductorCommand();
let simulation: StartedSimulation;
let model: string;
let server: SkyRlServer;

describe.skipIf(!skyrl || !sandbox.available)(`a training over SkyRL (${note})`, { timeout: 900_000 }, () => {
  beforeAll(async () => {
    const built = await run(['--version']);
    expect(built.code, built.stderr).toBe(0);
    model = path.join(places.folder, 'mini');
    await writeMiniAsLlama(SHORT_MODEL, model);
    for (const side of SIDES) await mkdir(path.join(places.folder, side));
    simulation = await startSimulation({ tasks: [], seed: 1, beside: false }, path.join(places.folder, 'gym'));
    server = await SkyRlServer.start({ installed: skyrl!, model, folder: path.join(places.folder, 'skyrl'), settings: SERVER });
  }, 300_000);
  afterAll(async () => {
    for (const side of SIDES) await run(['backend', 'stop'], at(side));
    // Each is missing where it did not start.
    await (server as SkyRlServer | undefined)?.kill();
    await (simulation as StartedSimulation | undefined)?.close();
  });

  it('learns as one on this machine does, although each side is killed, and brings home what the server has learned', () => told(async () => {
    const [here, there] = [await home('here', 'local'), await home('there', { kind: 'remote', url: server.url })];
    const local = run(['train', '--config', 'train.json', '--yes'], here);

    const begun = start(['train', '--config', 'train.json', '--yes'], there);
    await until(begun, `step 2/${CONFIG.steps}`);
    const { pid } = JSON.parse(await readFile(path.join(there.environment.CONDUCTOR_HOME, 'backend.json'), 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
    await begun.result;
    await vi.waitFor(() => expect(isProcessAlive(pid)).toBe(false));
    const [, trainingId = ''] = /^(\S+) {2}/m.exec((await run(['train', 'list'], there)).stdout) ?? [];

    const resumed = start(['train', 'follow', trainingId], there);
    await until(resumed, `step 5/${CONFIG.steps}`);
    await server.kill();
    await server.start();
    const { code, stderr } = await resumed.result;
    expect(code, stderr).toBe(0);

    const own = await local;
    expect(own.code, own.stderr).toBe(0);

    const [remote, beside] = await Promise.all([there, here].map(shown));
    for (const training of [remote!, beside!]) {
      expect(training).toMatchObject({ state: 'completed', step: CONFIG.steps, simulated: true });
      const rewards = training.metrics.map(({ reward = 0 }) => reward);
      expect(rewards).toHaveLength(CONFIG.steps);
      const [first, last] = [mean(rewards.slice(0, 3)), mean(rewards.slice(-3))];
      expect(last - first).toBeGreaterThan(0.1);
    }

    // States of steps that are long done are gone, where SkyRL can remove them; what a killed process had just saved may be left.
    const states = globSync('*/*.tar.gz', { cwd: path.join(places.folder, 'skyrl', 'checkpoints') });
    if (skyrl!.version !== '0.3.0') expect(states.length).toBeLessThan(CONFIG.steps / 2);
    expect(states.length).toBeGreaterThanOrEqual(3);

    // Samples of the last version by the server, and what the model on this machine makes of them with the adapter that came home.
    const folder = path.join(there.environment.CONDUCTOR_HOME, 'trainings', trainingId);
    const { engine, close } = await openRemoteEngine({ openModel: () => Promise.reject(new Error('not here')), modelFolder: async () => model }, {
      config: remote!.config, conductor: workerConfigSchema.parse({ id: 'mini', provider: 'local', model }), versions: path.join(places.folder, 'versions'),
      keys: { get: () => Promise.reject(new Error('no key')), forget: () => {} }, from: { version: LAST, engineState: path.join(folder, 'checkpoints', LAST, 'engine') },
    });
    const samples = await engine.sample({ messages: [{ role: 'user', content: 'Which worker writes the parser?' }], maxTokens: 48, temperature: 1, seeds: [1, 2, 3] }).finally(close);
    const loaded = await LocalModel.open({ settings: { folder: model, device: 'cpu', precision: 'full', adapters: true, storage: places.folder }, device: 'cpu', deviceReasons: [], threads: 1 });
    try {
      const logprobs = await loaded.score({
        sequences: samples.map(({ promptTokens, tokens }) => [...promptTokens, ...tokens]), promptLengths: samples.map(({ promptTokens }) => promptTokens.length), temperature: 1, adapter: path.join(folder, 'versions', LAST),
      });
      let apart = 0;
      for (const [index, sample] of samples.entries()) {
        for (const [token, logprob] of sample.logprobs.entries()) apart = Math.max(apart, Math.abs(logprob - logprobs[index]![token]!));
      }
      expect(apart).toBeLessThan(1e-4);
      if (process.env['CONDUCTOR_TEST_TABLE'] !== undefined) console.log(JSON.stringify({ apart, tokens: samples.flatMap(({ tokens }) => tokens).length, states, rewards: [remote!, beside!].map(({ metrics }) => metrics.map(({ reward }) => reward)) }));
    } finally {
      await loaded.close();
    }
  }));

  it('is one of a team, which goes on when SkyRL is killed, and each member compares with weights of its own there', () => told(async () => {
    const port = await freePort();
    const engine = { kind: 'remote', url: server.url };
    const coordinator = await home('coordinator', engine, { ...TEAM, team: { port, members: MEMBERS.length, wait: 600 } });
    const members = await Promise.all(MEMBERS.map(async (name, index) => {
      const { stdout } = await run(['train', 'key', 'add', name], coordinator);
      const member = await home(name, engine, { ...TEAM, seed: index });
      return { ...member, environment: { ...member.environment, TEAM_KEY: stdout.trim() } };
    }));

    const begun = start(['train', '--config', 'train.json', '--yes'], coordinator);
    await until(begun, 'to join');
    const joined = members.map((member) => start(['train', 'join', `http://127.0.0.1:${port}`, '--key', 'TEAM_KEY', '--config', 'train.json', '--yes'], member));
    await Promise.race([until(begun, `step 2/${TEAM.steps}`), ...joined.map((one) => ended(one, 'the second step'))]);
    await server.kill();
    await server.start();
    for (const { result } of [begun, ...joined]) {
      const { code, stderr } = await result;
      expect(code, stderr).toBe(0);
    }
    const [training, ...own] = await Promise.all([coordinator, ...members].map(shown));
    expect(training).toMatchObject({ state: 'completed', step: TEAM.steps, members: MEMBERS.map((name) => ({ name, groups: TEAM.steps * TEAM.tasksPerStep })) });
    for (const one of own) expect(one).toMatchObject({ state: 'completed', step: TEAM.steps, comparison: expect.objectContaining({ tasks: expect.any(Number) as number }) as object });
  }));
});

/** What fails says with it what the server and each backend wrote last: their folders are removed. */
async function told(test: () => Promise<void>): Promise<void> {
  try {
    await test();
  } catch (error) {
    const logs = [path.join('skyrl', 'skyrl.log'), ...SIDES.map((side) => path.join(side, 'home', 'backend.log'))];
    const said = await Promise.all(logs.map(async (log) => {
      const text = await readFile(path.join(places.folder, log), 'utf8').catch(() => '');
      return text && `\n--- the end of ${log}\n${text.slice(-2_500)}`;
    }));
    throw new Error(`${error instanceof Error ? error.message : String(error)}${said.join('')}`, { cause: error });
  }
}

/** Waits until the command line has said something. @throws Error where it ends before */
async function until(command: ReturnType<typeof start>, said: string): Promise<void> {
  const { child, output } = command;
  const heard = new Promise<void>((resolve) => {
    child.stderr.on('data', () => {
      if (output.stderr.includes(said)) resolve();
    });
  });
  await Promise.race([heard, ended(command, `"${said}"`)]);
}

/** @throws Error when the command line has ended */
async function ended({ child, result }: ReturnType<typeof start>, before: string): Promise<never> {
  const { code, stdout, stderr } = await result;
  throw new Error(`The command ended (${code ?? child.signalCode}) before ${before}: ${stdout}${stderr}`);
}

/** How the command line is started on a side. */
function at(side: string) {
  return { cwd: path.join(places.folder, side), environment: { CONDUCTOR_HOME: path.join(places.folder, side, 'home') } };
}

/** A home with the small model as the Conductor, and a project with tasks whose prompts are about as long. */
async function home(side: string, engine: unknown, config: object = CONFIG) {
  const options = at(side);
  await mkdir(options.environment.CONDUCTOR_HOME, { recursive: true, mode: 0o700 });
  await writeFile(path.join(options.environment.CONDUCTOR_HOME, 'workers.json'), JSON.stringify({
    version: 1, conductor: 'mini', workers: [{ id: 'mini', provider: 'local', model, promptProfile: 'mini', enabled: false }, ...simulation.workers], local: { device: 'cpu', precision: 'full' },
  }));
  await writeFile(path.join(options.cwd, 'conductor.tasks.jsonl'), (await tasksOfALength(simulation.workers)).join('\n'));
  await writeFile(path.join(options.cwd, 'train.json'), JSON.stringify({ ...config, engine }));
  return options;
}

async function tasksOfALength(pool: readonly WorkerConfig[]): Promise<string[]> {
  const tokenizer = await openTokenizer(model);
  const lines = (await readFile(path.join(simulation.folder, 'conductor.tasks.jsonl'), 'utf8')).trim().split('\n');
  return lines.filter((line) => {
    const { question } = JSON.parse(line) as { question: string };
    const { messages, prefill } = conductorPrompt({ question, context: '', pool, rounds: [] }, PROMPT_PROFILES.mini);
    const { length } = tokenizer.chat(messages, { prefill });
    return length > PROMPT_LENGTHS.over && length <= PROMPT_LENGTHS.most;
  });
}

/** The one training of a side. */
async function shown(options: ReturnType<typeof at>): Promise<Training> {
  const [, id = ''] = /^(\S+) {2}/m.exec((await run(['train', 'list'], options)).stdout) ?? [];
  return trainingSchema.parse(JSON.parse((await run(['train', 'show', id, '--json'], options)).stdout));
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
