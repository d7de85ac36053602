import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { makeProjectTasks, type Decision } from '../../backend/train/tasks/project-tasks.ts';
import { ScriptedServer } from '../support/scripted-server.ts';
import { GitRepository } from '../verify/git-repository.ts';
import { makeScratch, trySandbox } from '../verify/setup.ts';
import { conductorCommand } from './run-conductor.ts';

/*
 * The whole way of what tests say: a project whose tests, and an answer whose code, raise, print and name secrets. None may be left in
 * the journal, the logs, a prompt, an export, the command line's output or a task of a training.
 */

const sandbox = await trySandbox();
const { places, run } = conductorCommand();

/* Made up, and put together here so that no scanner takes this file for a leak. */
const SECRETS: Readonly<Record<string, string>> = {
  aws: `AK${'IA'}QYLPMN5HFIQR7XYA`,
  awsSecret: `aws_secret_access_key = ${'kJbvTnEwQzXcRmLpSdFg'}${'HyUi/OaWeBtNxZqMvKl7'}`,
  github: `gh${'p_'}${'q7Wm2Xc9Rt4Lz8Vb1Ns6'}${'Ky3Jd5Hf0Gp2Qa'}`,
  npm: `np${'m_'}${'Zt8Kq3Wn6Ym1Xs9Pc4Lb'}${'7Vd2Rf5Hj0Gu8T'}`,
  jwt: `${'ey'}JhbGciOiJIUzI1NiJ9.${'ey'}JzdWIiOiI5OTgyNzM2NDUifQ.${'Vn3Kq8Zt1Wm6Xs9Pc4Lb7Yd2Rf5'}`,
  database: `postgres://deploy:${'Tr0ub4dor'}Horse77@db.internal:5432/app`,
  assigned: `SESSION_TOKEN=${'w4Jz9Qm2'}${'Bn7Lk1Xp6Vd3'}`,
  pem: `-----BEGIN ${'RSA PRIVATE'} KEY-----\n${'MIIEow8Qk3Jd8Lq2FdXv7Rt5Wp1Zm9Nb4Hc6\n'.repeat(12)}-----END ${'RSA PRIVATE'} KEY-----`,
};
/** What must stand nowhere: pieces of each secret, plain and in base64. What an issuer's keys begin with is no secret, nor is a name. */
const NEEDLES = Object.values(SECRETS).flatMap((secret) => [secret, Buffer.from(secret).toString('base64')]).flatMap((text) => text.match(/[A-Za-z0-9+/]{16}/g) ?? [])
  .concat('Tr0ub4dor', SECRETS['pem']?.slice(40, 60) ?? '');

const reversed = (text: string): string => [...text].reverse().join('');
/** The sources hold the secrets backwards, as nothing would recognise them: what comes out is said by the tests alone. */
const VAULT = `const flip = (text) => [...text].reverse().join('');
export const vault = Object.fromEntries(Object.entries(${JSON.stringify(Object.fromEntries(Object.entries(SECRETS).map(([name, secret]) => [name, reversed(secret)])))})
  .map(([name, text]) => [name, flip(text)]));
`;
const TESTS = `import assert from 'node:assert/strict';
import test from 'node:test';
import { product } from '../src/product.js';
import { sum } from '../src/sum.js';
import { vault } from '../src/vault.js';

test('sums', () => assert.equal(sum([1, 2]), 3));
test('sums nothing', () => assert.equal(sum([]), 0));
for (const [name, secret] of Object.entries(vault)) {
  const base64 = Buffer.from(secret).toString('base64');
  test('raises ' + name, () => { throw new Error('Refused: ' + secret); });
  test('expects ' + name, () => assert.equal(secret, 'nothing'));
  test('shows an object with ' + name, () => assert.deepEqual({ [name]: [secret] }, {}));
  test('encodes ' + name, () => { throw new Error('got ' + base64); });
  test('breaks ' + name, () => { throw new Error('got ' + secret.slice(0, 12) + '\\n' + secret.slice(12)); });
  test('is called ' + secret, () => { throw new Error('no'); });
  test('is called ' + secret + ' and multiplies', () => assert.equal(product([2, 3]), 6));
  test('prints ' + name, () => { console.log(secret); console.error(secret); throw new Error('printed'); });
}
`;
const LOADS_NOT = `import { vault } from '../src/vault.js';
throw new Error('no connection: ' + vault.database + ' ' + vault.github);
`;
const OTHER = `export function product(list) {
  let result = 1;
  for (const item of list) result *= item;
  return result;
}
`;
const WRONG = 'export const sum = (list) => list.reduce((a, b) => a + b);\n';
/** An answer whose code hands on what it can reach. */
const TELLING = `import { vault } from './vault.js';
export const sum = (list) => { throw new Error(Object.values(vault).join('\\n')); };
`;

let server: ScriptedServer;
let project: GitRepository;

beforeAll(async () => {
  server = await ScriptedServer.start(({ model }) => (model === 'planner'
    ? 'model_id = [0]\nsubtasks = ["Mend it."]\naccess_list = [[]]'
    : `\`\`\`js src/sum.js\n${TELLING}\`\`\``));
  project = new GitRepository(path.join(places.folder, 'project'), {
    'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node --test' } }),
    'src/sum.js': WRONG, 'src/product.js': OTHER, 'src/vault.js': VAULT, 'test/sum.test.js': TESTS, 'test/loads.test.js': LOADS_NOT,
    'dies.mjs': 'import { vault } from "./src/vault.js";\nconsole.error(Object.values(vault).join("\\n"));\nprocess.exit(3);\n',
  });
  await mkdir(places.home, { recursive: true, mode: 0o700 });
  const worker = { provider: 'openai-compatible', baseUrl: server.baseUrl, maxOutputTokens: 500 };
  await writeFile(path.join(places.home, 'workers.json'), JSON.stringify({
    version: 1, conductor: 'planner', workers: [{ ...worker, id: 'worker', model: 'worker' }, { ...worker, id: 'planner', model: 'planner', enabled: false }],
  }));
});

afterAll(async () => {
  await run(['backend', 'stop']);
  await server.close();
});

/** The places of the text at which one of the secrets stands. */
function leaksIn(text: string): string[] {
  return NEEDLES.filter((needle) => text.includes(needle)).map((needle) => text.slice(Math.max(0, text.indexOf(needle) - 60), text.indexOf(needle) + 40));
}

/** But for the copies of the project, which are being removed meanwhile. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const found = path.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'verify' ? [] : filesIn(found);
    return entry.isFile() ? [found] : [];
  });
}

it.skipIf(!sandbox.available)(`leaves no secret of a run in what it stores, sends or shows ${sandbox.note}`, { timeout: 180_000 }, async () => {
  const solved = await run(['solve', 'sum() of nothing fails, please mend it', '--workspace', project.folder, '--file', path.join(project.folder, 'src/sum.js'), '--rounds', '2', '--json', '--yes']);
  expect(solved.stdout, solved.stderr).toMatch(/^\{/);
  const { runId, verdict } = JSON.parse(solved.stdout) as { runId: string; verdict: { tests: { message?: string }[] } };
  // The tests did speak, and both rounds were asked for.
  expect(verdict.tests.filter(({ message }) => message?.includes('[left out')).length).toBeGreaterThan(20);
  const prompts = server.requests.map(({ text }) => text);
  expect(prompts.filter((text) => text.includes('[left out')).length).toBeGreaterThan(2);
  expect(prompts.flatMap(leaksIn)).toEqual([]);
  expect(leaksIn(solved.stdout + solved.stderr)).toEqual([]);

  const exports = await Promise.all([['--format', 'markdown'], ['--format', 'json'], []].map((format) => run(['runs', 'export', runId, ...format])));
  for (const { code, stdout, stderr } of exports) {
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('left out: looks like a secret');
    expect(leaksIn(stdout)).toEqual([]);
  }
  await run(['backend', 'stop']);
  // The journal is closed after the record is removed, and its files beside the database go with it.
  await vi.waitFor(() => expect(readdirSync(places.home).filter((name) => /^backend\.json$|-shm$|-wal$/.test(name))).toEqual([]), { timeout: 20_000 });
  const files = filesIn(places.home);
  expect(files.map((file) => path.basename(file))).toEqual(expect.arrayContaining(['journal.sqlite', 'backend.log']));
  expect(files.flatMap((file) => leaksIn(readFileSync(file, 'latin1')).map((leak) => `${file}: ${leak}`))).toEqual([]);
});

it.skipIf(!sandbox.available)(`tells no secret in the verdict on a change ${sandbox.note}`, { timeout: 120_000 }, async () => {
  await writeFile(path.join(project.folder, 'src/sum.js'), TELLING);
  const commands = [[], ['--command', 'node dies.mjs', '--runner', 'node-test'], ['--command', 'node dies.mjs && node --test']];
  for (const command of commands) {
    const { stdout, stderr } = await run(['verify', '--workspace', project.folder, '--json', ...command]);
    expect(stdout).toContain('"reason"');
    expect(leaksIn(stdout + stderr)).toEqual([]);
  }
  await writeFile(path.join(project.folder, 'src/sum.js'), WRONG);
});

it.skipIf(!sandbox.available)(`makes tasks of a project that hold no secret ${sandbox.note}`, { timeout: 180_000 }, async () => {
  await using scratch = await makeScratch();
  const decisions: Decision[] = [];
  const found: unknown[] = [];
  const tasks = await makeProjectTasks({
    verifier: scratch.verifier,
    workspace: project.folder,
    test: { command: 'node --test', runner: 'node-test' },
    gatherContext: async (_, { question }) => ({ text: question, shown: [] }),
    signal: new AbortController().signal,
    onDecided: (decision) => decisions.push(decision),
    onFound: async (one) => void found.push(one),
  }, { seed: 1, count: 1, heldOut: 0, kinds: ['write'] });
  expect(decisions.length).toBeGreaterThan(0);
  // The base of a task holds the project's own files, as they stand in the workspace.
  expect(leaksIn(JSON.stringify([tasks, decisions, found]))).toEqual([]);
});
