import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from '../../../backend/journal/journal.ts';
import { trainingSchema, type Training } from '../../../backend/protocol/training.ts';
import { repaid } from '../../support/compared-runs.ts';
import { COMPILE_CACHE } from '../../support/compile-cache.ts';
import { type ScriptedAnswer, type ScriptedRequest, ScriptedServer } from '../../support/scripted-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { unequalAnswer, unequalWorkers } from '../../support/unequal-workers.ts';
import { trySandbox } from '../../verify/setup.ts';
import type { SimulatedTinker } from '../remote/simulated-tinker.ts';
import { freePort } from '../../support/free-port.ts';
import { startTinker } from './team-setup.ts';

/* A team as people start it: the real command line, three backends with homes, projects and workers of their own, and one simulated training server. */

const { available, note } = await trySandbox();
const runCli = fileURLToPath(new URL('../../../run-cli.mjs', import.meta.url));

let folder: string;
let tinker: SimulatedTinker;
let port: number;
const machines: CommandLine[] = [];

/** One machine. */
class CommandLine {
  readonly workspace: string;
  readonly home: string;
  key = '';
  script: (request: ScriptedRequest) => ScriptedAnswer = unequalAnswer;
  readonly #folder: string;
  #workers: ScriptedServer | undefined;

  constructor(name: string) {
    this.#folder = path.join(folder, name);
    [this.workspace, this.home] = [path.join(this.#folder, 'project'), path.join(this.#folder, 'home')];
  }

  async begin(settings: object, seed: number): Promise<void> {
    this.#workers = await ScriptedServer.start((request) => this.script(request));
    await Promise.all([this.workspace, this.home].map((one) => mkdir(one, { recursive: true, mode: 0o700 })));
    const tasks = Array.from({ length: 6 }, (_, index) => JSON.stringify({ id: `t${index}`, question: `What is ${index}?`, grader: { kind: 'exact', answer: String(index) } }));
    await writeFile(path.join(this.workspace, 'conductor.tasks.jsonl'), tasks.join('\n'));
    await writeFile(path.join(this.workspace, 'train.json'), JSON.stringify({ ...settings, seed }));
    const small = { id: 'small', provider: 'local', model: path.join(folder, 'small'), promptProfile: 'mini', enabled: false };
    await writeFile(path.join(this.home, 'workers.json'), JSON.stringify({ version: 1, conductor: 'small', workers: [small, ...unequalWorkers(this.#workers.baseUrl)] }));
  }

  get asked(): number {
    return this.#workers?.requests.length ?? 0;
  }

  async run(...args: string[]): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
    const child = spawn(process.execPath, [runCli, ...args], {
      cwd: this.workspace, stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', ...COMPILE_CACHE, HOME: this.#folder, TMPDIR: this.#folder, CONDUCTOR_HOME: this.home, TEAM_KEY: this.key },
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    const [code] = await once(child, 'close') as [number | null];
    return { code, ...output };
  }

  async training(): Promise<Training> {
    const { stdout } = await this.run('train', 'list', '--json');
    const [{ trainingId }] = JSON.parse(stdout) as [{ trainingId: string }];
    return trainingSchema.parse(JSON.parse((await this.run('train', 'show', trainingId, '--json')).stdout));
  }

  /** As the kernel kills a process. */
  async kill(): Promise<void> {
    const { pid } = JSON.parse(await readFile(path.join(this.home, 'backend.json'), 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
  }

  async close(): Promise<void> {
    await this.run('backend', 'stop');
    await this.#workers?.close();
  }
}

beforeEach(async () => {
  folder = await temporaryFolder();
  tinker = await startTinker(path.join(folder, 'small'));
  port = await freePort();
});
afterEach(async () => {
  for (const machine of machines.splice(0)) await machine.close();
  await tinker.close();
});

async function machine(name: string, settings: object, seed: number): Promise<CommandLine> {
  const made = new CommandLine(name);
  machines.push(made);
  await made.begin(settings, seed);
  return made;
}

/** Holds answers of workers from the n-th on. */
function gate(machine: CommandLine, from: number) {
  const [held, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let answers = 0;
  machine.script = (request) => {
    if ((answers += 1) < from) return unequalAnswer(request);
    held.resolve();
    return { begin: '', rest: open.promise.then(() => unequalAnswer(request) as string) };
  };
  return { held: held.promise, open: open.resolve, get passed() { return Math.min(answers, from - 1); } };
}

describe.skipIf(!available)(`a team on the command line (${note})`, { timeout: 240_000 }, () => {
  it('goes on when a member and the coordinator are killed in the middle of a step, and nothing counts or is paid twice', async () => {
    const shared = { engine: { kind: 'remote', url: tinker.url, model: 'small' }, tasks: { project: false, heldOut: 0.4 }, tasksPerStep: 2, carriedOut: 16_384, sharedSteps: false, evaluation: { samples: 1, onTheWay: 0 }, budget: { usd: 0.05 } };
    const coordinator = await machine('coordinator', { ...shared, steps: 2, groupSize: 4, maxTokens: 64, team: { port, members: 2, wait: 120 } }, 0);
    const ann = await machine('ann', shared, 1);
    const ben = await machine('ben', shared, 2);
    for (const [one, name] of [[ann, 'ann'], [ben, 'ben']] as const) one.key = (await coordinator.run('train', 'key', 'add', name)).stdout.trim();
    expect((await coordinator.run('train', 'key', 'list')).stdout).toBe('ann\nben\n');

    const started = coordinator.run('train', 'start', '-c', 'train.json', '--yes');
    await expect.poll(async () => (await coordinator.run('train', 'list', '--json')).stdout, { timeout: 60_000 }).toContain('Waiting for 2 members to join.');
    const refused = await ben.run('train', 'join', `http://127.0.0.1:${port}`, '--key', 'OTHER_KEY', '-c', 'train.json', '--yes');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('The key OTHER_KEY of this member is not set') });

    const [held, other] = [gate(ann, 4), gate(ben, 4)];
    const join = (machine: CommandLine) => machine.run('train', 'join', `http://127.0.0.1:${port}`, '--key', 'TEAM_KEY', '-c', 'train.json', '--yes');
    const joined = [join(ann), join(ben)] as const;
    await Promise.all([held.held, other.held]);
    await ann.kill();
    await coordinator.kill();
    expect((await joined[0]).stderr).toMatch(/The coordinator http:\/\/127\.0\.0\.1:\d+ gets, for each plan of this project: the token ids/);
    await started;
    ann.script = unequalAnswer;
    ben.script = unequalAnswer;
    held.open();
    other.open();
    const ids = [await coordinator.training(), await ann.training()].map(({ trainingId }) => trainingId);
    const followed = await Promise.all([coordinator.run('train', 'follow', ids[0]!), ann.run('train', 'follow', ids[1]!), joined[1]]);
    expect(followed.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(followed[0].stderr).toMatch(/Given by members of the team:\n {2}ann.* {2}4 groups, 16 plans for \$0\.\d+ of its own\n {2}ben.* {2}4 groups, 16 plans/);
    const trainings = [await coordinator.training(), await ann.training(), await ben.training()];
    for (const training of trainings) {
      expect(training).toMatchObject({ state: 'completed', step: 2 });
      expect(training.spentUsd).toBeLessThanOrEqual(0.05);
    }
    const longest = [...tinker.saved.values()].reduce((most, weights) => (weights.length > most.length ? weights : most), []);
    expect(longest.map((step) => step.split(' ').length - 1)).toEqual(trainings[0]!.metrics.map(({ examples }) => examples));
    for (const [index, one] of [coordinator, ann, ben].entries()) {
      await one.run('backend', 'stop');
      const journal = Journal.open(path.join(one.home, 'journal.sqlite'));
      const runs = journal.childrenOf(trainings[index]!.trainingId);
      expect(runs).toHaveLength(16);
      expect(runs.flatMap((run) => repaid(journal.read(run)))).toEqual([]);
      journal.close();
    }
    if (process.env['CONDUCTOR_TEST_TABLE'] !== undefined) console.log(followed[0].stderr, trainings.map(({ spentUsd, spentTokens }) => [spentUsd, spentTokens]), [coordinator, ann, ben].map(({ asked }) => asked), longest);
  });
});
