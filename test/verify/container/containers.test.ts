import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { Containers } from '../../../backend/verify/sandbox/container/containers.ts';
import { defaultLimits, type Limits } from '../../../backend/verify/sandbox/limits/limits.ts';
import { parsePatch } from '../../../backend/verify/patch/parse-patch.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../../backend/verify/verify.ts';
import { makeScratch, PATIENTLY, type Scratch } from '../setup.ts';
import { ask, tryEngine } from './image.ts';

const IMAGE = `conductor-test:${process.pid}`;
const ENGINES = await Promise.all((['docker', 'podman'] as const).map((engine) => tryEngine(engine, IMAGE)));
const NAMES = { docker: 'Docker', podman: 'Podman' };
const containersOf = (environment: NodeJS.ProcessEnv): Containers =>
  new Containers({ searchPath: environment['PATH'] ?? '', environment, isProcessAlive });

describe('where there is no engine', () => {
  it('says so, and what to do', async () => {
    await using scratch = await makeScratch();
    expect(await containersOf({ PATH: scratch.folder }).availability('node:24')).toEqual({
      available: false,
      reason: 'The tests should run in a container of the image "node:24", and there is no Docker and no Podman on this machine. ' +
        'Start or install Docker or Podman, or choose no image.',
    });
  });

  it('learns nothing of a patch whose tests should run in a container', async () => {
    await using scratch = await makeScratch();
    const verdict = await verify(scratch, { containers: containersOf({ PATH: scratch.folder }), image: 'node:24' });
    expect(verdict).toMatchObject({ outcome: 'infrastructure', verified: false, score: 0 });
    expect(verdict.reason).toContain('there is no Docker and no Podman on this machine.');
  });
});

it('says what an engine that does not answer says', async () => {
  await using scratch = await makeScratch();
  await writeFile(path.join(scratch.folder, 'docker'), '#!/bin/sh\necho "Cannot connect to the Docker daemon. Is it running?" >&2; exit 1', { mode: 0o755 });
  expect((await containersOf({ PATH: scratch.folder }).availability('node:24')).reason)
    .toContain('and Docker cannot be used: Cannot connect to the Docker daemon. Is it running? Start or install');
});

it('has no Python environment of a person in a container', async () => {
  await using scratch = await makeScratch();
  const { folders, copies, baseRuns } = scratch;
  const asked: string[] = [];
  const sandbox = { pinnedImage: (image: string) => Promise.resolve(image), run: () => Promise.reject(new Error('Nothing is run here.')) };
  const python = (workspace: string) => (asked.push(workspace), Promise.resolve({ folder: '/envs/a', isChosen: true }));
  const base = await scratch.project(PROJECT);
  const verifier = new Verifier({ sandbox, folders, copies, baseRuns, python });
  for (const image of ['any', undefined]) {
    await verifier.testBase({ base, command: 'node --test', image, signal: new AbortController().signal }).catch(() => undefined);
    expect(asked).toEqual(image === undefined ? [base] : []);
  }
});

it.each([['link', 'ln -s /etc/hostname'], ['pipe', 'mkfifo'], ['file', 'touch']])('takes only plain files and folders out of a container: a %s', async (what, makes) => {
  await using scratch = await makeScratch();
  // As Docker's client behaves; that of Podman follows links inside the container.
  await writeFile(path.join(scratch.folder, 'docker'), [
    '#!/bin/sh', `case "$1" in --version) echo Docker;; version) echo 1;; inspect) echo exited 0 false;; cp) case "$2" in *:*) exec ${makes} "$3";; esac;; esac`, '',
  ].join('\n'), { mode: 0o755 });
  const to = path.join(scratch.folder, 'log');
  const taking = containersOf({ PATH: `${scratch.folder}${path.delimiter}${process.env['PATH'] ?? ''}` }).runImage({
    script: '', image: 'any', taken: { log: to }, limits: defaultLimits(10_000), timeoutMs: 10_000, signal: new AbortController().signal,
  });
  if (what === 'file') await taking;
  else await expect(taking).rejects.toThrow('a link or a special file as "log"');
  expect(existsSync(to)).toBe(what === 'file');
});

describe.each(ENGINES)('tests in a container ($note)', { timeout: 120_000 }, ({ engine, available }) => {
  if (!available) return it.skip('are judged', () => undefined);
  /** Before Podman, a Docker that does not answer is found. */
  let [searchPath, folder] = [process.env['PATH'] ?? '', ''];
  const containers = (): Containers => containersOf({ ...process.env, PATH: searchPath });
  beforeAll(async () => {
    if (engine === 'podman') {
      folder = await mkdtemp(path.join(tmpdir(), 'container-engine-'));
      await writeFile(path.join(folder, 'docker'), '#!/bin/sh\nexit 1', { mode: 0o755 });
      searchPath = `${folder}${path.delimiter}${searchPath}`;
    }
  });
  afterAll(async () => {
    if (folder !== '') await rm(folder, { recursive: true });
    await ask(engine, 'rmi', '--force', IMAGE);
  });
  const nothingLeft = async (): Promise<void> =>
    expect(await ask(engine, 'ps', '--all', '--quiet', '--filter', `label=conductor.owner=${process.pid}`)).toBe('');
  /** Runs a script in the scratch's home folder. */
  const run = (scratch: Scratch, script: string, options: RunOptions = {}) => {
    const { readable = [], limits = {}, timeoutMs = 60_000, signal = new AbortController().signal } = options;
    return containers().run({
      script, image: IMAGE, cwd: scratch.home, writable: [scratch.home], readable, timeoutMs, signal, emptied: [],
      limits: { ...defaultLimits(timeoutMs), ...limits },
    });
  };

  it('judge a patch, with the programs of the image', async () => {
    await using scratch = await makeScratch();
    const verdict = await verify(scratch, { containers: containers(), image: IMAGE });
    expect(verdict).toMatchObject({ outcome: 'verified', sandboxed: true });
    expect(verdict.notes).toContain(`The tests ran in a container of the image ${IMAGE}.`);
    await nothingLeft();
  });

  it('on the machine that the image is end when their own files grow beyond the limit', async () => {
    const ended = await containers().runImage({
      script: 'node -e "fs.writeFileSync(\'/conductor/large\', Buffer.alloc(8 * 2 ** 20))"; sleep 100', image: IMAGE, taken: {}, timeoutMs: 100_000, signal: new AbortController().signal,
      limits: { ...defaultLimits(100_000), diskBytes: 2 ** 20 },
    });
    expect(ended).toMatchObject({ exitCode: null, exceeded: 'disk' });
    await nothingLeft();
  });

  it('see nothing of this machine but what they are given, and no network', async () => {
    await using scratch = await makeScratch();
    await mkdir(path.join(scratch.folder, 'secrets'));
    await writeFile(path.join(scratch.folder, 'secrets', 'key'), 'a secret');
    const { stdout } = await run(scratch, [
      `ls ${scratch.folder} ${scratch.folder}/secrets 2>/dev/null | grep -c -e secrets -e key`,
      'ls /home /root /usr/bin/git 2>/dev/null | grep -c .',
      'ls /sys/class/net',
    ].join('; '));
    expect(stdout.trim().split('\n')).toEqual(['0', '0', 'lo']);
  });

  it('write to their copy and temporary folders, and nowhere else', async () => {
    await using scratch = await makeScratch();
    const given = path.join(scratch.folder, 'given, "read"');
    await mkdir(given);
    await writeFile(path.join(given, 'text'), 'given');
    const { stdout } = await run(scratch, [
      'touch here && touch /tmp/there && echo both', 'touch /bin/outside 2>/dev/null || echo not outside',
      `cat '${given}/text' && echo`, `touch '${given}/new' 2>/dev/null || echo not in what is read`,
    ].join('; '), { readable: [given] });
    expect(stdout.trim().split('\n')).toEqual(['both', 'not outside', 'given', 'not in what is read']);
  });

  it('have no rights, and can gain none', async () => {
    await using scratch = await makeScratch();
    const { stdout } = await run(scratch, 'grep -E "^(CapEff|CapBnd|NoNewPrivs)" /proc/self/status');
    expect(stdout.replace(/\s+/g, ' ').trim()).toBe('CapEff: 0000000000000000 CapBnd: 0000000000000000 NoNewPrivs: 1');
  });

  it('are given nothing of our environment', async () => {
    await using scratch = await makeScratch();
    vi.stubEnv('A_SECRET_OF_OURS', 'told');
    try {
      const { stdout } = await run(scratch, 'cat /proc/self/environ');
      expect(stdout).not.toContain('A_SECRET_OF_OURS');
      expect(stdout).not.toContain('CONDUCTOR_SCRIPT');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('tell their exit code, which is not the engine’s', async () => {
    await using scratch = await makeScratch();
    expect(await run(scratch, 'exit 125')).toMatchObject({ exitCode: 125 });
  });

  it('are ended at the limits of time, memory and output', async () => {
    await using scratch = await makeScratch();
    expect(await run(scratch, 'sleep 600', { timeoutMs: 2_000 })).toMatchObject({ exceeded: 'time' });
    const grow = 'node -e "const kept = []; for (;;) kept.push(Buffer.alloc(1e7, 1))"';
    // Podman does not always say why the kernel ended a process.
    expect(await run(scratch, grow, { limits: { memoryBytes: 200e6 } })).toMatchObject(engine === 'docker' ? { exceeded: 'memory' } : { exitCode: 137 });
    expect(await run(scratch, 'while :; do echo more; done', { limits: { outputBytes: 1e6 } })).toMatchObject({ exceeded: 'output' });
    await nothingLeft();
  });

  it('start no more processes than they may', async () => {
    await using scratch = await makeScratch();
    const { stdout, stderr } = await run(scratch, 'for i in 1 2 3 4 5 6 7 8 9; do sleep 5 & done; echo all', { limits: { processes: 8 } });
    expect(stdout).not.toContain('all');
    expect(stderr).toMatch(/fork/i);
  });

  it('end when they are no longer wanted', async () => {
    await using scratch = await makeScratch();
    const controller = new AbortController();
    const running = run(scratch, 'touch begun; sleep 600', { signal: controller.signal });
    await vi.waitFor(() => expect(existsSync(path.join(scratch.home, 'begun'))).toBe(true), PATIENTLY);
    controller.abort();
    await expect(running).rejects.toThrow(/abort/i);
    await nothingLeft();
  });

  it('end with the process that wanted them, and leave nothing once there is another', async () => {
    await using scratch = await makeScratch();
    const owner = spawn(process.execPath, [fileURLToPath(new URL('owner-child.ts', import.meta.url)), IMAGE, scratch.home], {
      stdio: 'ignore', env: { ...process.env, PATH: searchPath },
    });
    await vi.waitFor(() => expect(existsSync(path.join(scratch.home, 'begun'))).toBe(true), PATIENTLY);
    owner.kill('SIGKILL');
    const running = () => ask(engine, 'ps', '--quiet', '--filter', `label=conductor.owner=${owner.pid}`);
    await vi.waitFor(async () => expect(await running()).toBe(''), PATIENTLY);
    await run(scratch, 'echo');
    expect(await ask(engine, 'ps', '--all', '--quiet', '--filter', `label=conductor.owner=${owner.pid}`)).toBe('');
  });

  it('are not run where the engine does not have their image, and the verdict says what brings it', async () => {
    await using scratch = await makeScratch();
    const verdict = await verify(scratch, { containers: containers(), image: 'conductor-test:none' });
    expect(verdict).toMatchObject({
      outcome: 'infrastructure', notes: [],
      reason: `The tests should run in a container of the image "conductor-test:none", and ${NAMES[engine]} has no such image. This brings it: ${engine} pull conductor-test:none`,
    });
  });

  it('have their image looked for, and not fetched', async () => {
    expect(await containers().availability('conductor-test:none')).toEqual({
      available: false,
      reason: `The tests should run in a container of the image "conductor-test:none", and ${NAMES[engine]} has no such image.`,
      remedy: `${engine} pull conductor-test:none`,
    });
  });
});

interface RunOptions {
  readonly readable?: readonly string[];
  readonly limits?: Partial<Limits>;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const PROJECT = {
  'package.json': '{ "type": "module" }',
  'src/add.js': 'export const add = (a, b) => a - b;\n',
  'test/add.test.js': [
    "import { test } from 'node:test';", "import assert from 'node:assert/strict';", "import { add } from '../src/add.js';",
    "test('adds', () => assert.equal(add(2, 3), 5));", "test('adds nothing', () => assert.equal(add(2, 0), 2));", '',
  ].join('\n'),
};

async function verify({ folders, copies, baseRuns, home, project }: Scratch, { containers, image }: { containers: Containers; image: string }) {
  const base = await project(PROJECT);
  const sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: home, folders, containers });
  const answer = '```js src/add.js\nexport const add = (a, b) => a + b;\n```';
  return await new Verifier({ sandbox, folders, copies, baseRuns }).verify({
    base, patch: await parsePatch(answer, base), command: 'node --test', image, signal: new AbortController().signal,
  });
}
