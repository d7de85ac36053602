import { fork, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mapInOrder } from '../../backend/common/map-in-order.ts';
import { Journal } from '../../backend/journal/journal.ts';
import type { StoredEvent } from '../../backend/protocol/run-events.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import { writeSampleProject } from '../../backend/simulator/sample-project.ts';
import { SimulatorServer } from '../../backend/simulator/server.ts';
import { outcomeOf, repaid } from '../support/compared-runs.ts';
import { ScriptedServer, type ScriptedAnswer, type ScriptedRequest } from '../support/scripted-server.ts';
import { servedConductor } from '../workers/served/served-parts.ts';
import { SimulatedVllm } from '../workers/served/simulated-vllm.ts';
import type { Life, More } from './crash-child.ts';

/*
 * A backend that is killed leaves a journal and copies of the workspace, and the next one resumes the run. Whatever the moment: the run ends
 * as the undisturbed one did, no finished step is paid for again, no reservation stays open, and nothing is left of the tests' copies.
 * SIGKILL leaves the files as they are. So an undisturbed run keeps them around each of its events, and each state that differs is resumed.
 * Real kills follow where processes are left behind, and around each type of event in one scenario.
 */

/** The child as one file, because it is started so often; inside the checkout, where it finds the packages that stay outside of it. */
const child = fileURLToPath(new URL('../../dist/test/crash-child.mjs', import.meta.url));
interface Scenario {
  readonly name: string;
  readonly question: string;
  readonly workspace: string;
  /** Content of workers.json for a home folder of this name. */
  readonly workers: (home: string) => unknown;
  readonly more?: More;
}

let folder: string;
let simulator: SimulatorServer;
let scripted: ScriptedServer;
let served: SimulatedVllm;
const scenarios = new Map<string, Scenario>();

beforeAll(async () => {
  await build({
    entryPoints: [fileURLToPath(new URL('./crash-child.ts', import.meta.url))],
    outfile: child,
    bundle: true,
    // Most of a child's time is its start: it loads a small file faster than a large one or many.
    minify: true,
    keepNames: true,
    platform: 'node',
    format: 'esm',
    mainFields: ['module', 'main'],
    external: ['@vscode/ripgrep'],
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
  });
  folder = await mkdtemp(path.join(tmpdir(), 'conductor-crash-'));
  // A seed whose run takes several steps in two rounds, so that there is something to lose at every point.
  const seed = 6;
  simulator = await SimulatorServer.start({ seed, latency: 0 });
  const workspace = path.join(folder, 'project');
  const { question } = await writeSampleProject(workspace, { seed });
  // Each of its test files is a process in each run of the tests: what fails and one beside it are enough.
  for (const file of await readdir(path.join(workspace, 'test'))) {
    if (!['calculator.test.js', 'csv.test.js'].includes(file)) await rm(path.join(workspace, 'test', file));
  }
  const conductor = simulator.conductor();
  scenarios.set('two rounds', {
    name: 'two rounds', question, workspace,
    workers: () => ({ version: 1, conductor: conductor.id, workers: [...simulator.workers(), { ...conductor, enabled: false }] }),
  });

  const empty = path.join(folder, 'empty');
  await mkdir(empty);
  scripted = await ScriptedServer.start(script);
  const lastWorkers = {
    kept: {}, fails: {}, 'no plan': {}, refused: {}, reviewed: {}, stopped: { maxOutputTokens: 50_000 }, waits: { key: 'SOME_KEY' },
  };
  for (const [name, lastWorker] of Object.entries(lastWorkers)) {
    const workers = (home: string): unknown => scriptedWorkers(`${name}-${home}`, lastWorker);
    scenarios.set(name, {
      name, question: name === 'refused' ? ' ' : 'The constant a is wrong, please mend it.', workspace: empty, workers, ...(name === 'reviewed' && { more: { review: true } }),
    });
  }
  const small = path.join(folder, 'small');
  await mkdir(path.join(small, 'src'), { recursive: true });
  await writeFile(path.join(small, 'src/a.js'), 'export const a = 1;\n');
  scenarios.set('hands', {
    name: 'hands', question: 'The constant a is wrong, please mend it.', workspace: small,
    workers: (home) => scriptedWorkers(`hands-${home}`, { hands: 'tools' }, { hands: 'fenced' }),
  });
  for (const [name, more] of [['told', { tell: 'Use two.' }], ['stopped step', { stop: true }]] as const) {
    scenarios.set(name, {
      name, question: 'The constant a is wrong, please mend it.', workspace: small, more,
      workers: (home) => scriptedWorkers(`${name}-${home}`, { hands: 'tools' }, { hands: 'fenced' }),
    });
  }
  scenarios.set('agent', {
    name: 'agent', question: 'The constant a is wrong, please mend it.', workspace: small, workers: (home) => scriptedWorkers(`agent-${home}`, {}, AGENT),
  });
  const tested = path.join(folder, 'tested');
  await mkdir(path.join(tested, 'src'), { recursive: true });
  // Most of a run of its tests is the start of processes, so it is one. In "two rounds" each file has its own.
  await writeFile(path.join(tested, 'package.json'), '{ "type": "module", "scripts": { "test": "node --test --test-isolation=none" } }');
  await writeFile(path.join(tested, 'src/a.js'), 'export const a = 1;\n');
  await writeFile(path.join(tested, 'src/a.test.js'), "import { equal } from 'node:assert';\nimport { test } from 'node:test';\nimport { a } from './a.js';\ntest('a', () => equal(a, 2));\n");
  scenarios.set('tries', {
    name: 'tries', question: 'The constant a is wrong, please mend it.', workspace: tested, workers: (home) => scriptedWorkers(`tries-${home}`, {}),
  });
  scenarios.set('local first', {
    name: 'local first', question: 'The constant a is wrong, please mend it.', workspace: tested, more: { request: { localFirst: true } },
    workers: (home) => scriptedWorkers(`local first-${home}`, { price: { inputPerMillion: 1, outputPerMillion: 1 } }, { price: { inputPerMillion: 0, outputPerMillion: 0 } }),
  });
  const red = path.join(folder, 'red');
  await cp(tested, red, { recursive: true });
  await writeFile(path.join(red, 'src/b.test.js'), "import { test } from 'node:test';\ntest('b', () => {});\n");
  scenarios.set('red before', {
    name: 'red before', question: 'The constant a is wrong, please mend it.', workspace: red, more: { request: { failedBefore: 'ask', rounds: 1 } },
    workers: (home) => scriptedWorkers(`red before-${home}`, {}),
  });
  scenarios.set('continued', {
    name: 'continued', question: 'The constant a is wrong, please mend it.', workspace: tested, workers: (home) => scriptedWorkers(`continued-${home}`, {}),
  });
  for (const [name, request] of [['attempts', { attempts: 2 }], ['at once', { attempts: 2, atOnce: true }]] as const) {
    scenarios.set(name, {
      name, question: 'The constant a is wrong, please mend it.', workspace: tested, more: { request }, workers: (home) => scriptedWorkers(`${name}-${home}`, {}),
    });
  }
  // One call writes both plans. Which of them a text is makes no difference, for a call that is lost is not made again for both.
  served = await SimulatedVllm.open({ writes: () => 'model_id = [1]\nsubtasks = ["Answer."]\naccess_list = [[]]' });
  scenarios.set('served plans', {
    name: 'served plans', question: 'The constant a is wrong, please mend it.', workspace: tested, more: { request: { attempts: 2 } },
    workers: (home) => {
      const file = scriptedWorkers(`served plans-${home}`, {});
      const planner = servedConductor(served.baseUrl, { id: 'planner', promptProfile: 'compact' });
      return { ...file, workers: file.workers.map((worker) => (worker.id === 'planner' ? planner : worker)) };
    },
  });
});

afterAll(async () => {
  for (const { process } of idle) process.disconnect();
  served.close();
  await Promise.all([simulator.close(), scripted.close()]);
  await rm(folder, { recursive: true, force: true });
});

/** A simulated agent that mends the constant. */
const AGENT = {
  provider: 'acp', model: 'default', baseUrl: undefined, maxOutputTokens: undefined,
  agent: {
    command: ['/bin/sh', '-c', 'exec "$FAKE_NODE" "$HOME/fake-agent.ts" "$@"', 'fake-agent', 'edit', 'src/a.js', '= 1', '= 2'],
    home: ['fake-agent.ts'], env: { FAKE_NODE: process.execPath }, minutes: 1, stepTokens: 500,
  },
};

function scriptedWorkers(prefix: string, lastWorker: object, firstWorker: object = {}) {
  const worker = { provider: 'openai-compatible', baseUrl: scripted.baseUrl, maxOutputTokens: 500 };
  const ids = ['first', 'second', 'planner'];
  return {
    version: 1,
    conductor: 'planner',
    budget: { runTokens: 20_000 },
    workers: ids.map((id) => ({ ...worker, id, model: `${prefix} ${id}`, enabled: id !== 'planner', ...(id === 'first' && firstWorker), ...(id === 'second' && lastWorker) })),
  };
}

/**
 * `kept`: the planner is overloaded once, later keeps the answer. `reviewed`: somebody wants another plan, and changes that one. `fails`: the second worker refuses, the first stands in for it and then
 * refuses the last step. `no plan`: the planner writes none.
 */
function script({ model, text, messages }: ScriptedRequest): ScriptedAnswer {
  const [scenario = '', who] = model.split(/-.* /);
  if (['hands', 'told', 'stopped step'].includes(scenario) && who !== 'planner') return handsScript(who ?? '', messages.filter(({ role }) => role === 'assistant').length, text, scenario);
  if (who === 'planner') {
    if (scenario === 'no plan') return 'I would ask somebody.';
    if (scenario === 'kept' && scripted.of(model).length === 1) return { status: 503, retryAfter: 0 };
    if (text.includes('wants another one')) return 'model_id = [1, 0]\nsubtasks = ["Think.", "Answer."]\naccess_list = [[], [0]]';
    if (scenario === 'local first') return 'model_id = [1]\nsubtasks = ["Answer."]\naccess_list = [["all"]]';
    if (text.includes('TEST FEEDBACK')) return 'model_id = []\nsubtasks = []\naccess_list = []';
    if (['attempts', 'at once', 'continued', 'red before'].includes(scenario)) return 'model_id = [1]\nsubtasks = ["Answer."]\naccess_list = [[]]';
    if (scenario === 'tries') return 'model_id = [0, 1, 0]\nsubtasks = ["Mend a.", "Mend a, too.", "Answer."]\naccess_list = [[], [], [0, 1]]';
    return 'model_id = [0, 1, 0]\nsubtasks = ["Look.", "Think.", "Answer."]\naccess_list = [[], [0], [1]]';
  }
  if (scenario === 'tries') {
    // The answer holds what it was told of the attempts.
    const told = [...text.matchAll(/<tests_with_this_change>\n(\d+) tests? passed, (\d+) failed/g)].map(([, passed, failed]) => `${passed}/${failed}`).join(' ');
    return `${told}\n\`\`\`js src/a.js\nexport const a = ${who === 'second' || told !== '' ? 2 : 3};\n\`\`\``;
  }
  if (scenario === 'local first') return `Here:\n\`\`\`js src/a.js\nexport const a = ${who === 'first' ? 3 : 2};\n\`\`\``;
  if (scenario === 'continued') {
    return text.includes('<earlier>')
      ? 'src/a.js\n<<<<<<< SEARCH\nexport const a = 3;\n=======\nexport const a = 2;\n>>>>>>> REPLACE'
      : 'Here:\n```js src/a.js\nexport const a = 3;\n```';
  }
  // None is verified, so that both are tried to their end.
  if (['attempts', 'at once', 'red before', 'served plans'].includes(scenario)) return 'Here:\n```js src/a.js\nexport const a = 3;\n```';
  return scenario === 'fails' && (who === 'second' || text.includes('Answer.')) ? { status: 403 } : `What ${who} says.`;
}

/** What a worker with hands does in its n-th turn. Its last words hold what it saw, so that another copy after a kill is noticed. */
function handsScript(who: string, turn: number, text: string, scenario: string): ScriptedAnswer {
  const seen = [...text.matchAll(/\[saw [^\]]*\]/g)].join(' ');
  if (who === 'first') {
    return [
      '```edit src/a.js\n<<<<<<< SEARCH\nexport const a = 1;\n=======\nexport const a = 2;\n>>>>>>> REPLACE\n```',
      '```run\necho "export const b = 1;" > src/b.js; echo "[saw $(cat src/a.js src/b.js)]"\n```',
    ][turn] ?? `Mended: ${seen}${scenario === 'told' ? ` Told: ${text.includes('Use two.')}` : ''}`;
  }
  if (scenario === 'stopped step' && turn === 1) return { begin: '', rest: new Promise(() => {}) };
  const look = { name: 'run', arguments: { command: 'echo "[saw $(cat src/*.js)]"; rm -f src/b.js' } };
  return [{ calls: [look, { name: 'read', arguments: { path: 'src/a.js' } }] }, { calls: [look] }, `Looked: ${seen}`][turn] ?? '';
}

async function newHome(scenario: Scenario, name: string): Promise<string> {
  const home = path.join(folder, `${scenario.name}-${name}`);
  await mkdir(home, { recursive: true });
  await writeFile(path.join(home, 'workers.json'), JSON.stringify(scenario.workers(name)));
  await mkdir(path.join(home, 'person'));
  await copyFile(new URL('../workers/acp/fake-agent.ts', import.meta.url), path.join(home, 'person/fake-agent.ts'));
  return home;
}

/** Runs a backend to its end, in a process of its own where it is killed or its files are kept. @returns the signal that ended it, if one did. */
async function backend({ workspace, question, more = {} }: Scenario, home: string, kill = '', retried = ''): Promise<NodeJS.Signals | null> {
  const life: Life = { home, workspace, question, kill, retried, more };
  if (kill === '') return resumedIn(idle.pop() ?? startChild(), life);
  const { process, said } = startChild(JSON.stringify(life));
  const [code, signal] = (await once(process, 'close')) as [number | null, NodeJS.Signals | null];
  if (code !== 0 && signal === null) throw new Error(`The backend failed: ${said.join('')}`);
  return signal;
}

/** A process, and what it has written to standard error. */
interface Child {
  readonly process: ChildProcess;
  readonly said: string[];
}

/** Processes that have ended a life and wait for another. */
const idle: Child[] = [];

function startChild(...life: string[]): Child {
  // Vitest's own options would make its start longer.
  const started = fork(child, life, { execArgv: [], stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
  const said: string[] = [];
  started.stderr?.setEncoding('utf8').on('data', (text: string) => said.push(text));
  return { process: started, said };
}

async function resumedIn(one: Child, life: Life): Promise<null> {
  one.process.send(life);
  const ended = once(one.process, 'close').then(([code]) => `It ended with ${String(code)}: ${one.said.join('')}`);
  const answered = once(one.process, 'message').then(([problem]) => problem as string | null);
  const problem = await Promise.race([answered, ended]);
  if (problem !== null) throw new Error(`The backend failed: ${problem}`);
  idle.push(one);
  return null;
}

function eventsIn(home: string): StoredEvent[] {
  const journal = Journal.open(path.join(home, 'journal.sqlite'));
  try {
    return journal.list({ limit: 1 }).flatMap(({ runId }) => {
      expect(journal.budget.reserved(`run:${runId}`)).toEqual({ usd: 0, tokens: 0 });
      return journal.read(runId);
    });
  } finally {
    journal.close();
  }
}

/** Events after which processes of tests, of a step or of an agent run, or are about to. */
const BUSY = ['base.started', 'verify.started', 'step.acted', 'attempt.started'];

it.each([
  'two rounds', 'kept', 'fails', 'no plan', 'refused', 'stopped', 'hands', 'reviewed', 'tries', 'told', 'stopped step', 'agent', 'attempts', 'at once', 'red before', 'served plans',
])('%s: the run ends the same, whatever a killed backend left on disk', async (name) => {
  const scenario = scenarios.get(name) as Scenario;
  const kept = path.join(folder, `${name}-left`);
  const home = await newHome(scenario, 'undisturbed');
  expect(await backend(scenario, home, `keep:${kept}`)).toBeNull();
  const undisturbed = eventsIn(home);
  const expected = outcomeOf(undisturbed);
  if (name === 'two rounds') expect(expected.rounds.map(({ verdict }) => verdict)).toEqual(['failed', 'verified']);
  if (name === 'tries') expect(expected.answer).toMatch(/^0\/1 1\/0\n/);
  if (name === 'reviewed') expect(expected.rounds[0]).toMatchObject({ workers: [1, 1], plan: { modelIds: [1, 1] } });
  if (name === 'told') expect(expected.rounds[0]?.outputs[0]).toContain('Told: true');
  if (name === 'stopped step') expect(expected.rounds[0]?.outputs[1]).toMatch(/^A person stopped this step/);
  if (name === 'agent') expect(expected.rounds[0]?.outputs[0]).toContain('+export const a = 2;');
  if (scenario.more?.request?.attempts) expect(expected.rounds.map(({ verdict }) => verdict)).toEqual(['failed', 'failed']);
  if (name === 'served plans') expect(served.to('completions').map((body) => body['n'])).toEqual([2]);
  if (name === 'red before') expect(expected).toMatchObject({ outcome: 'passes', message: expect.stringContaining('1 test failed before and was left out.') });
  if (name === 'hands') expect(expected.rounds[0]?.outputs[2]).toContain('[saw export const a = 2;');

  // A backend killed at one of two moments that left the same bytes is resumed once for both.
  const moments = undisturbed.flatMap(({ seq }) => [...(seq === 1 ? [] : [`before-${seq}`]), `after-${seq}`]);
  const states = new Map<string, string>();
  for (const moment of moments) {
    const left = path.join(kept, moment);
    // Before an event that is written together with another, nothing happens.
    if (existsSync(left)) states.set(await bytesOf(left), moment);
  }
  expect(existsSync(path.join(kept, `after-${undisturbed.length}`))).toBe(true);
  const endsTheSame = async (home: string, moment: string): Promise<void> => {
    expect(await backend(scenario, home), moment).toBeNull();
    const events = eventsIn(home);
    expect(outcomeOf(events), moment).toEqual(expected);
    expect(repaid(events), moment).toEqual([]);
    expect(await readdir(path.join(home, 'verify')).catch(() => [])).toEqual([]);
  };
  await mapInOrder([...states.values()], 2, async (moment) => {
    const left = await newHome(scenario, moment);
    await cp(path.join(kept, moment), left, { recursive: true });
    await endsTheSame(left, moment);
  });

  const types = new Set<string>(undisturbed.map(({ event }) => event.type));
  const kills = name === 'kept'
    ? [...types].flatMap((type) => [...(type === 'run.accepted' ? [] : [`before:${type}`]), `after:${type}`])
    : BUSY.filter((type) => types.has(type)).map((type) => `after:${type}`);
  await mapInOrder(kills, 2, async (kill) => {
    const killed = await newHome(scenario, kill.replace(':', '-'));
    expect(await backend(scenario, killed, kill), kill).toBe('SIGKILL');
    await endsTheSame(killed, kill);
  });
  console.log(`crash matrix, ${name}: ${moments.length} moments around ${types.size} types of event (${[...types].join(', ')}) left ${states.size} states; ${kills.length} kills`);
}, 600_000);

/**
 * What distinguishes two moments for whoever comes next: the journal's files, and which folders are there to be removed. Not the `-shm` file:
 * whoever opens a journal first makes it anew from the others (https://sqlite.org/walformat.html#recovery).
 */
async function bytesOf(left: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of (await readdir(left)).filter((file) => file !== 'verify' && !file.endsWith('-shm')).sort()) hash.update(`${file}\n`).update(await readFile(path.join(left, file)));
  return hash.update((await readdir(path.join(left, 'verify')).catch(() => [])).sort().join('\n')).digest('hex');
}

it.each([
  'before:try.begun', 'after:plan.proposed', 'after:answer.ready', 'after:verify.completed',
])('a local try is made once, and the plan follows, when the backend is killed %s', async (kill) => {
  const scenario = scenarios.get('local first') as Scenario;
  const home = await newHome(scenario, kill.replace(':', '-'));
  expect(await backend(scenario, home, kill)).toBe('SIGKILL');
  expect(await backend(scenario, home)).toBeNull();
  const events = eventsIn(home);
  expect(snapshotOf(events)).toMatchObject({
    outcome: 'verified', answerRound: 1, rounds: [{ localTry: {}, steps: [{ worker: 0 }], verdict: { outcome: 'failed' } }, { steps: [{ worker: 1 }] }],
  });
  expect(events.filter(({ event }) => event.type === 'try.begun')).toHaveLength(1);
  expect(repaid(events)).toEqual([]);
});

it.each([
  'context.gathered', 'attempt.started', 'attempt.failed', 'plan.proposed', 'step.completed', 'answer.ready', 'run.completed',
])('ends the same when what was written with %s is lost with the backend, because it was not committed yet', async (type) => {
  const scenario = scenarios.get('kept') as Scenario;
  const name = `written-${type}`;
  const undisturbed = await newHome(scenario, `${name}-undisturbed`);
  await backend(scenario, undisturbed);
  const home = await newHome(scenario, name);
  expect(await backend(scenario, home, `written:${type}`)).toBe('SIGKILL');
  expect(await backend(scenario, home)).toBeNull();
  expect(outcomeOf(eventsIn(home))).toEqual(outcomeOf(eventsIn(undisturbed)));
  expect(repaid(eventsIn(home))).toEqual([]);
});

it.each([
  'before:run.resumed', 'after:run.resumed', 'before:run.waiting', 'after:run.waiting',
])('ends the same when the backend that resumes the run and waits for a key is killed, too, %s', async (kill) => {
  const scenario = scenarios.get('waits') as Scenario;
  const name = `again-${kill.replace(':', '-')}`;
  const undisturbed = await newHome(scenario, `${name}-undisturbed`);
  await backend(scenario, undisturbed);
  const home = await newHome(scenario, name);
  expect(await backend(scenario, home, 'after:step.completed')).toBe('SIGKILL');
  expect(await backend(scenario, home, kill)).toBe('SIGKILL');
  expect(await backend(scenario, home)).toBeNull();
  expect(outcomeOf(eventsIn(home))).toEqual(outcomeOf(eventsIn(undisturbed)));
  expect(repaid(eventsIn(home))).toEqual([]);
});

it('a question that continues is answered on top of the earlier change, whatever it was about to write when the backend is killed', async () => {
  const scenario = scenarios.get('continued') as Scenario;
  const first = await newHome(scenario, 'first');
  await backend(scenario, first);
  const { runId } = snapshotOf(eventsIn(first));
  const next: Scenario = { ...scenario, question: 'It has to be two, please mend it.', more: { request: { continues: runId } } };
  const goOn = async (name: string, kill?: string): Promise<StoredEvent[]> => {
    const home = path.join(folder, `continued-${name}`);
    await cp(first, home, { recursive: true });
    if (kill) expect(await backend(next, home, kill), kill).toBe('SIGKILL');
    expect(await backend(next, home), kill).toBeNull();
    return eventsIn(home);
  };
  const undisturbed = await goOn('undisturbed');
  expect(snapshotOf(undisturbed)).toMatchObject({ outcome: 'verified', request: { continues: runId }, earlier: { thread: runId, change: { state: 'pending' } } });
  for (const kill of ['after:run.accepted', 'before:context.gathered', 'after:plan.proposed', 'after:step.completed', 'before:verify.completed', 'before:run.completed']) {
    const events = await goOn(kill.replace(':', '-'), kill);
    expect(outcomeOf(events), kill).toEqual(outcomeOf(undisturbed));
    expect(repaid(events), kill).toEqual([]);
    expect(snapshotOf(events).earlier, kill).toEqual(snapshotOf(undisturbed).earlier);
  }
}, 120_000);

it('a step that is asked again ends the same, whatever event the backend is killed at, and pays for nothing that was kept', async () => {
  const scenario = scenarios.get('two rounds') as Scenario;
  const first = await newHome(scenario, 'before-retry');
  await backend(scenario, first);
  const { runId, rounds } = snapshotOf(eventsIn(first));
  // Neither the first step of its round nor one of the last round, so that there is something to keep and something to do again.
  const { index: step } = rounds[0]?.steps.find(({ reads }) => reads.length > 0) ?? { index: 0 };
  const place = `${runId}:0:${step}`;
  const retry = async (name: string, kill?: string) => {
    const home = path.join(folder, `retry-${name}`);
    await cp(first, home, { recursive: true });
    if (kill) expect(await backend(scenario, home, kill, place), kill).toBe('SIGKILL');
    const asked = simulator.asked;
    expect(await backend(scenario, home, '', place), name).toBeNull();
    return { events: eventsIn(home), asked: simulator.asked - asked };
  };
  const undisturbed = await retry('undisturbed');
  expect(undisturbed.events[0]?.event).toMatchObject({ parentId: runId, retried: { round: 0, step } });
  expect(undisturbed.asked).toBe(undisturbed.events.filter(({ event }) => event.type === 'attempt.started').length);

  const attempt = undisturbed.events.find(({ event }) => event.type === 'attempt.started')?.seq ?? 0;
  for (const kill of ['before:2', 'after:1', `after:${attempt}`, 'after:answer.ready', 'before:run.completed']) {
    const { events } = await retry(kill.replace(':', '-'), kill);
    expect(outcomeOf(events), kill).toEqual(outcomeOf(undisturbed.events));
    expect(repaid(events), kill).toEqual([]);
  }
}, 600_000);
