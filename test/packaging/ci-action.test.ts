import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { GitRepository } from '../verify/git-repository.ts';
import { trySandbox } from '../verify/setup.ts';

/* The action for CI, as GitHub runs it: each step of action.yml in bash, with inputs by the environment and outputs in a file. */

const sandbox = await trySandbox();
const folder = fileURLToPath(new URL('../../packaging/ci/', import.meta.url));
const PATIENT_MS = 180_000;

/** https://docs.github.com/en/actions/reference/workflows-and-actions/metadata-syntax, as far as a composite action of commands needs it. */
const actionSchema = z.strictObject({
  name: z.string(),
  description: z.string(),
  branding: z.strictObject({ icon: z.string(), color: z.string() }),
  inputs: z.record(z.string().regex(/^[a-z-]+$/), z.strictObject({ description: z.string(), default: z.string().optional() })),
  outputs: z.record(z.string(), z.strictObject({ description: z.string(), value: z.string() })),
  runs: z.strictObject({
    using: z.literal('composite'),
    steps: z.array(z.strictObject({ id: z.string(), shell: z.literal('bash'), run: z.string(), env: z.record(z.string(), z.string()) })),
  }),
});
const action = actionSchema.parse(load(await readFile(path.join(folder, 'action.yml'), 'utf8')));

interface Job {
  readonly cwd: string;
  readonly inputs?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
}

const places = { folder: '' };

/** Runs the steps until one fails, as GitHub does. */
async function runAction({ cwd, inputs = {}, environment = {} }: Job) {
  const given = Object.fromEntries(Object.entries(action.inputs).map(([name, { default: byDefault = '' }]) => [name, inputs[name] ?? byDefault]));
  const outputs: Record<string, string> = {};
  let stderr = '';
  for (const { id, run, env } of action.runs.steps) {
    const outputFile = path.join(places.folder, `output-${id}`);
    await writeFile(outputFile, '');
    const expanded = Object.entries(env).map(([name, value]) => [name, value.replaceAll(/\$\{\{ inputs\.([a-z-]+) \}\}/g, (_, input: string) => given[input] ?? '')]);
    const script = path.join(places.folder, 'step.sh');
    await writeFile(script, run);
    const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', script], {
      cwd, stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`, HOME: places.folder, TMPDIR: places.folder, CONDUCTOR_HOME: path.join(places.folder, 'home'),
        GITHUB_ACTION_PATH: folder, GITHUB_OUTPUT: outputFile, ...Object.fromEntries(expanded), ...environment,
      },
    });
    child.stdout.resume();
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const [code] = (await once(child, 'close')) as [number | null];
    for (const line of (await readFile(outputFile, 'utf8')).split('\n').filter((text) => text !== '')) {
      const [name = '', value = ''] = line.split(/=(.*)/s);
      outputs[`steps.${id}.outputs.${name}`] = value;
    }
    if (code !== 0) return { code, stderr, outputs };
  }
  return { code: 0, stderr, outputs };
}

const BROKEN = 'export const add = (a, b) => a - b;\n';
const FIXED = 'export const add = (a, b) => a + b;\n';
const TEST = `import assert from 'node:assert/strict';
import test from 'node:test';
import { add } from '../src/add.js';
test('adds', () => assert.equal(add(2, 3), 5));
`;

let clones = 0;
/** A clone of a repository, as actions/checkout leaves it, on a branch with one more commit. */
function clone(code: string, tests = TEST): GitRepository {
  clones += 1;
  const origin = new GitRepository(path.join(places.folder, `origin-${clones}`), {
    'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node --test' } }), 'src/add.js': BROKEN, 'test/add.test.js': TEST,
  });
  const repository = new GitRepository(path.join(places.folder, `clone-${clones}`));
  repository.git('fetch', '--quiet', origin.folder, 'main:refs/remotes/origin/main');
  repository.git('checkout', '--quiet', '-B', 'mine', 'origin/main');
  repository.commit({ 'src/add.js': code, 'test/add.test.js': tests });
  return repository;
}

beforeAll(async () => {
  places.folder = await realpath(await mkdtemp(path.join(tmpdir(), 'conductor-ci-')));
  await mkdir(path.join(places.folder, 'home'));
  // The checkout is built when the action first runs in it, which is no part of what is tried here.
  const cli = fileURLToPath(new URL('../../run-cli.mjs', import.meta.url));
  await once(spawn(process.execPath, [cli, '--version'], { stdio: 'ignore' }), 'close');
}, 600_000);
afterAll(() => rm(places.folder, { recursive: true, force: true }));

describe('the action for CI', () => {
  it('hands every input to its script by the environment, and none to a shell', () => {
    const [step] = action.runs.steps;
    expect(Object.values(step?.env ?? {}).toSorted()).toEqual(Object.keys(action.inputs).map((name) => `\${{ inputs.${name} }}`).toSorted());
    expect(step?.run).not.toContain('${{');
    expect(Object.values(action.outputs).map(({ value }) => value)).toEqual(Object.keys(action.outputs).map((name) => `\${{ steps.verify.outputs.${name} }}`));
  });

  it('ends with 2, and says what to do, where it is not known what the branch is built on', async () => {
    const { folder: cwd } = clone(FIXED);
    const nothing = await runAction({ cwd });
    expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining('There is no commit to judge on top of')]);
    const shallow = await runAction({ cwd, environment: { GITHUB_BASE_REF: 'other' } });
    expect([shallow.code, shallow.stderr]).toEqual([2, expect.stringContaining('fetch-depth: 0')]);
  });

  it('writes and removes nothing through a link that the branch has put where reports go', async () => {
    const elsewhere = path.join(places.folder, 'elsewhere');
    await mkdir(elsewhere);
    await writeFile(path.join(elsewhere, 'junit.xml'), 'of the runner');
    const { folder: cwd } = clone(FIXED);
    await symlink(elsewhere, path.join(cwd, 'conductor-reports'));
    await mkdir(path.join(cwd, 'out'));
    await symlink(path.join(elsewhere, 'new'), path.join(cwd, 'out/.gitignore'));
    for (const reports of ['conductor-reports', 'conductor-reports//', './conductor-reports/inner', path.join(cwd, 'conductor-reports'), 'out']) {
      const { code, stderr, outputs } = await runAction({ cwd, inputs: { reports, base: 'HEAD~1' } });
      expect([reports, code, stderr, outputs]).toEqual([reports, 2, expect.stringContaining('is a symbolic link'), {}]);
    }
    expect(await readdir(elsewhere)).toEqual(['junit.xml']);
    expect(await readdir(path.join(cwd, 'out'))).toEqual(['.gitignore']);
  });
});

describe.skipIf(!sandbox.available)(`the action for CI judges a branch, ${sandbox.note}`, { timeout: PATIENT_MS }, () => {
  it('accepts a right one with its reports, and says so in its outputs', async () => {
    const repository = clone(FIXED);
    const { code, stderr, outputs } = await runAction({ cwd: repository.folder, environment: { GITHUB_BASE_REF: 'main' } });
    expect([code, outputs], stderr).toEqual([0, {
      'steps.verify.outputs.outcome': 'verified', 'steps.verify.outputs.junit': 'conductor-reports/junit.xml', 'steps.verify.outputs.sarif': 'conductor-reports/conductor.sarif',
    }]);
    expect(await readFile(path.join(repository.folder, 'conductor-reports/junit.xml'), 'utf8')).toContain('failures="0"');
    expect(repository.git('status', '--porcelain')).toBe('');
  });

  it('refuses a wrong one with 1, and a shell reads nothing of its inputs', async () => {
    const { folder: cwd } = clone('export const add = (a, b) => a * b;\n');
    const { code, outputs } = await runAction({ cwd, inputs: { reports: 'out $(touch pwned)' }, environment: { GITHUB_BASE_REF: 'main' } });
    expect([code, outputs['steps.verify.outputs.outcome']]).toEqual([1, 'failed']);
    const { runs: [run] } = JSON.parse(await readFile(path.join(cwd, 'out $(touch pwned)/conductor.sarif'), 'utf8')) as { runs: [{ results: unknown[] }] };
    expect(run.results).toHaveLength(1);
    await expect(readFile(path.join(cwd, 'pwned'))).rejects.toThrow('ENOENT');
  });

  it('lets the tests of the branch judge where that is asked for, and takes a named base', async () => {
    const { folder: cwd } = clone('export const add = (a, b) => a + b + 1;\n', TEST.replace('5', '6'));
    const byHead = await runAction({ cwd, inputs: { tests: 'head', base: 'HEAD~1' } });
    expect([byHead.code, byHead.outputs['steps.verify.outputs.outcome']], byHead.stderr).toEqual([0, 'passes']);
    expect((await runAction({ cwd, inputs: { tests: 'head', base: 'HEAD~1', 'require-verified': 'true' } })).code).toBe(1);
  });

  it('ends with 2 where the base has no tests, with the reason in its reports', async () => {
    const repository = new GitRepository(path.join(places.folder, 'untested'), { 'README.md': 'Nothing here runs.\n' });
    repository.commit({ 'README.md': 'Nothing at all.\n' });
    const { code, outputs } = await runAction({ cwd: repository.folder, inputs: { base: 'HEAD~1' } });
    expect([code, outputs['steps.verify.outputs.outcome']]).toEqual([2, 'infrastructure']);
    expect(await readFile(path.join(repository.folder, 'conductor-reports/junit.xml'), 'utf8')).toContain('No test command was found');
  });
});
