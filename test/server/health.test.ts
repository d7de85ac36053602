import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BackendHealth, nodeProblem, onnxruntimeProblem } from '../../backend/server/health.ts';

describe('the backend\'s Node', () => {
  test('this one will do', () => {
    expect(nodeProblem()).toBeUndefined();
  });

  test.each([
    ['20.19.5', true], ['22.12.0', true], ['22.15.0', false], ['9.0.0', true],
  ])('Node %s (sqlite: %s) is refused in one sentence', (version, sqlite) => {
    expect(nodeProblem({ version, hasBuiltin: () => sqlite })).toBe(
      `Conductor's backend needs Node 22.13 or later with node:sqlite; this is Node ${version}. ` +
      'Set conductor.nodePath to a newer one.',
    );
  });

  test.each(['22.13.0', '23.0.0', '24.1.0', '100.0.0'])('Node %s with sqlite is accepted', (version) => {
    expect(nodeProblem({ version, hasBuiltin: (name) => name === 'sqlite' })).toBeUndefined();
  });
});

describe('onnxruntime', () => {
  let folder: string;
  beforeEach(async () => { folder = await mkdtemp(path.join(tmpdir(), 'conductor-health-')); });
  afterEach(() => rm(folder, { recursive: true }));
  const signal = new AbortController().signal;

  /** A package of that name which does what a broken native library does. */
  async function install(code: string): Promise<string> {
    const entry = path.join(folder, 'node_modules', 'onnxruntime-node', 'index.js');
    await mkdir(path.dirname(entry), { recursive: true });
    await writeFile(entry, code);
    return path.join(folder, 'backend.mjs');
  }

  test('the installed one loads', async () => {
    expect(await onnxruntimeProblem({ requireFrom: import.meta.url, signal })).toBeUndefined();
  });

  test('is missed where it is not installed', async () => {
    expect(await onnxruntimeProblem({ requireFrom: path.join(folder, 'backend.mjs'), signal })).toMatch(/not installed/);
  });

  test('that cannot be loaded is reported with its reason', async () => {
    const requireFrom = await install('throw new Error("GLIBCXX_3.4.29 not found")');
    expect(await onnxruntimeProblem({ requireFrom, signal })).toMatch(/does not load .*\(Error: GLIBCXX_3\.4\.29 not found\)/);
  });

  test('that kills its process kills nothing else', async () => {
    const requireFrom = await install('process.kill(process.pid, "SIGSEGV"); while (true) {}');
    expect(await onnxruntimeProblem({ requireFrom, signal })).toMatch(/SIGSEGV/);
  });
});

const LOOKED = { storage: { home: '/home', writable: true, journalBytes: 5 }, servers: [] };

test('health answers at once with what is known, and later with everything', async () => {
  const slow = Promise.withResolvers<string | undefined>();
  const health = new BackendHealth({
    backendVersion: '1.0.0',
    problems: [slow.promise, Promise.resolve(undefined), Promise.reject(new Error('no disk'))],
    sandbox: Promise.resolve({ available: true, remedy: 'nothing' }),
    look: () => Promise.resolve(LOOKED),
  });
  expect(health.current()).toMatchObject({ problems: [], sandbox: { available: false } });
  slow.resolve('Local models are not available.');
  const { problems, sandbox, pid } = await health.checked();
  expect(problems.sort()).toEqual(['A check failed: Error: no disk', 'Local models are not available.']);
  expect(sandbox).toEqual({ available: true, remedy: 'nothing' });
  expect(await health.details(new AbortController().signal)).toEqual({ ...(await health.checked()), ...LOOKED });
  expect(pid).toBe(process.pid);
});
