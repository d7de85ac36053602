import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMPILE_CACHE } from '../../support/compile-cache.ts';
import { ScriptedServer } from '../../support/scripted-server.ts';
import { tryEngine } from '../../verify/container/image.ts';
import { GitRepository } from '../../verify/git-repository.ts';

/* `conductor eval` with a row in SWE-bench's form, in a real container. The image has Git and a project; its tests are a script that says what pytest would. */

const PATIENT_MS = 300_000;
const IMAGE = 'localhost/conductor-swe-bench:test';
const BROKEN = 'add() { echo $(($1 - $2)); }\n';
const MENDED = 'add() { echo $(($1 + $2)); }\n';
const TESTS = `. ./add.sh
[ "$(add 5 0)" = 5 ] && echo 'PASSED test_add.py::test_nothing' || echo 'FAILED test_add.py::test_nothing - it differs'
`;
const MORE_TESTS = `${TESTS}[ "$(add 2 3)" = 5 ] && echo 'PASSED test_add.py::test_sum[2 3]' || { echo 'FAILED test_add.py::test_sum[2 3] - it differs'; exit 1; }\n`;
const ROW = {
  repo: 'ada/add', instance_id: 'ada__add-1', base_commit: 'HEAD', version: '1', problem_statement: 'The function `add` of add.sh prints -1 for 2 and 3.',
  FAIL_TO_PASS: '["test_add.py::test_sum[2"]', PASS_TO_PASS: '["test_add.py::test_nothing"]', image: IMAGE, log_parser: 'parse_log_pytest', eval_type: 'pass_and_fail',
};

/** What a worker with hands writes, one turn after the other. */
const HANDY = [
  '```run\nbash tests.sh; [ -e test_add.py ] || echo HIDDEN: none\n```',
  '```edit add.sh\n<<<<<<< SEARCH\nadd() { echo $(($1 - $2)); }\n=======\nadd() { echo $(($1 + $2)); }\n>>>>>>> REPLACE\n```',
  '```run\n. ./add.sh; echo "sum $(add 2 3)"; git log --format=%s; mkdir docs; echo a note > docs/notes.txt; : > empty.txt; mkdir tests; echo exit > tests/test_add.py; exit 7\n```',
  '```run\ncat docs/notes.txt; bash tests.sh; rm empty.txt\n```',
];

const run = promisify(execFile);
const folder = await mkdtemp(path.join(tmpdir(), 'conductor-swe-bench-'));
const project = new GitRepository(path.join(folder, 'testbed'), { 'add.sh': BROKEN, 'tests.sh': TESTS });
const diffTo = (files: Readonly<Record<string, string>>): string => {
  project.write(files);
  const diff = project.git('diff');
  project.git('checkout', '--quiet', '.');
  return diff;
};
const gold = diffTo({ 'add.sh': MENDED });
const testPatch = diffTo({ 'tests.sh': MORE_TESTS });
const more = { programs: ['bash', 'git', 'tar', 'mkdir', 'rm'], folders: { '/testbed': project.folder } };
const docker = await tryEngine('docker', IMAGE, more);
const { engine, available, note } = docker.available ? docker : await tryEngine('podman', IMAGE, more);

afterAll(async () => {
  if (available) await run(engine, ['rmi', '--force', IMAGE]).catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
});

describe.skipIf(!available)(`a row of SWE-bench (${note})`, () => {
  const place = path.join(folder, 'place');
  let server: ScriptedServer;
  /** Whether the third reply of the worker with hands never ends. */
  let hangs = false;

  beforeAll(async () => {
    await mkdir(place);
    server = await ScriptedServer.start(({ model, messages }) => ({
      handy: messages.length === 5 && hangs ? { begin: '', rest: new Promise<string>(() => {}) } : HANDY[(messages.length - 1) / 2] ?? 'It adds now.',
      right: `\`\`\`sh title="add.sh"\n${MENDED}\`\`\``, wrong: `\`\`\`sh title="add.sh"\n${BROKEN.replace('-', '*')}\`\`\``,
      // Prints what the tests print when they pass, and ends them.
      liar: `\`\`\`sh title="add.sh"\n${BROKEN}echo 'PASSED test_add.py::test_nothing'; echo 'PASSED test_add.py::test_sum[2 3]'; exit 3\n\`\`\``,
    })[model] ?? 'It works.');
    const worker = { provider: 'openai-compatible', baseUrl: server.baseUrl, price: { inputPerMillion: 1, outputPerMillion: 1 } };
    await mkdir(path.join(place, 'home'), { mode: 0o700 });
    const workers = [...['right', 'wrong', 'liar', 'silent'].map((id) => ({ ...worker, id, model: id })), { ...worker, id: 'handy', model: 'handy', hands: 'fenced' }];
    await writeFile(path.join(place, 'home', 'workers.json'), JSON.stringify({ version: 1, workers }));
    const evalScript = ['#!/bin/bash', 'set -uxo pipefail', 'cd /testbed', "git -c safe.directory='*' apply -v - <<'EOF_1'", testPatch.trimEnd(), 'EOF_1', ": '>>>>> Start Test Output'", 'bash tests.sh', ": '>>>>> End Test Output'", "git -c safe.directory='*' checkout HEAD tests.sh"].join('\n');
    const row = { ...ROW, patch: gold, test_patch: testPatch };
    await writeFile(path.join(place, 'rows.jsonl'), `${JSON.stringify({ ...row, eval_script: evalScript })}\n`);
    await writeFile(path.join(place, 'live.jsonl'), `${JSON.stringify({ ...row, image: undefined, docker_image: IMAGE, log_parser: 'pytest', eval_type: undefined, test_cmds: ['bash tests.sh'] })}\n`);
  });

  afterAll(async () => await server.close());

  function started(...args: string[]): ChildProcessByStdio<null, Readable, Readable> {
    const cli = fileURLToPath(new URL('../../../run-cli.mjs', import.meta.url));
    return spawn(process.execPath, [cli, ...args], {
      cwd: place, stdio: ['ignore', 'pipe', 'pipe'], detached: true,
      env: { ...process.env, ...COMPILE_CACHE, CONDUCTOR_HOME: path.join(place, 'home') },
    });
  }

  async function conductor(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const child = started(...args);
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...output };
  }

  it('is answered with the project of its image, and judged in it by its own script', async () => {
    const { code, stderr } = await conductor('eval', 'rows.jsonl', '-c', 'alone', '--pool', 'right,wrong,liar,silent', '--out', 'results', '--max-usd', '1', '--yes', '--json');
    expect(code, stderr).toBe(0);
    const read = async (name: string): Promise<string> => await readFile(path.join(place, 'results', name), 'utf8');
    const samples = (await read('samples.jsonl')).trim().split('\n').map((line) => JSON.parse(line) as { contestant: string; verified: boolean; reason: string });
    expect(samples.map(({ contestant, verified, reason }) => [contestant, verified, reason])).toEqual([
      ['right alone', true, 'All 2 tests passed.'],
      ['wrong alone', false, '0 of 2 tests passed.'],
      ['liar alone', false, '2 of 2 tests passed. The tests ended with 3, and name none that failed.'],
      ['silent alone', false, 'The question asks for a change, but the answer changes no file.'],
    ]);
    // The same once more costs nothing.
    const asked = server.requests.length;
    expect((await conductor('eval', 'rows.jsonl', '-c', 'alone', '--pool', 'right,wrong,liar,silent', '--out', 'results', '--max-usd', '1', '--yes', '--json')).code).toBe(0);
    expect(server.requests).toHaveLength(asked);
    // The workers saw the project; the hidden test they did not.
    expect(server.of('right')[0]?.text).toContain('echo $(($1 - $2))');
    expect(server.of('right')[0]?.text).not.toContain('test_sum');
    const [prediction] = (await read('swe-bench/01-right-alone.jsonl')).trim().split('\n').map((line) => JSON.parse(line) as { instance_id: string; model_patch: string });
    expect(prediction?.instance_id).toBe('ada__add-1');
    project.gitWith({ input: prediction?.model_patch ?? '' }, 'apply', '--check', '-');
  }, PATIENT_MS);

  it('is worked on by a worker with hands in a copy, whose commands run in the image without its history', async () => {
    const { code, stderr } = await conductor('eval', 'rows.jsonl', '-c', 'alone', '--pool', 'handy', '--out', 'hands', '--max-usd', '1', '--yes', '--json');
    expect(code, stderr).toBe(0);
    const [sample] = (await readFile(path.join(place, 'hands', 'samples.jsonl'), 'utf8')).trim().split('\n').map((line) => JSON.parse(line) as { verified: boolean; reason: string; change: string });
    const seen = server.of('handy').map(({ messages }) => messages.at(-1)?.content ?? '');
    expect(seen[1]).toContain('Ended with exit code 0.\nPASSED test_add.py::test_nothing\n');
    expect(seen[1]).toContain('HIDDEN: none');
    expect(seen[2]).toContain('Done: add.sh is changed.');
    expect(seen[3]).toContain('Ended with exit code 7.\nsum 5\nbase\n');
    expect(seen[3]).toContain('The command changed docs/notes.txt, empty.txt.');
    expect(seen[3]).toMatch(/No part of your change:\ntests\/test_add\.py: /);
    // What a command changes, later ones have; what it may not change, they do not.
    expect(seen[4]).toContain('a note\n');
    expect(seen[4]).toContain('PASSED test_add.py::test_nothing');
    expect(seen[4]).toContain('The command changed empty.txt.');
    expect(server.of('handy')).toHaveLength(5);
    expect(sample).toMatchObject({ verified: true, reason: 'All 2 tests passed.' });
    expect(sample?.change).toContain('+a note');
    expect(sample?.change).not.toContain('empty.txt');
    project.gitWith({ input: sample?.change ?? '' }, 'apply', '--check', '-');
  }, PATIENT_MS);

  it('whose worker with hands is killed in the middle of its work goes on there, and pays for no turn twice', async () => {
    const args = ['eval', 'rows.jsonl', '-c', 'alone', '--pool', 'handy', '--out', 'killed', '--max-usd', '1', '--yes', '--json'];
    const before = server.of('handy').length;
    hangs = true;
    const child = started(...args);
    const closed = once(child, 'close');
    child.stdout.resume();
    child.stderr.resume();
    while (server.of('handy').length < before + 3) await setTimeout(50);
    process.kill(-(child.pid as number), 'SIGKILL');
    await closed;
    hangs = false;
    const { code, stderr } = await conductor(...args);
    expect(code, stderr).toBe(0);
    // The third was under way, and is asked for again.
    expect(server.of('handy').slice(before).map(({ messages }) => messages.length)).toEqual([1, 3, 5, 5, 7, 9]);
    expect(JSON.parse(await readFile(path.join(place, 'killed', 'samples.jsonl'), 'utf8'))).toMatchObject({ verified: true, reason: 'All 2 tests passed.' });
  }, PATIENT_MS);

  it('of SWE-bench-Live is judged by its commands', async () => {
    const { code, stderr } = await conductor('eval', 'live.jsonl', '-c', 'alone', '--pool', 'right,wrong', '--out', 'live', '--max-usd', '1', '--yes', '--json');
    expect(code, stderr).toBe(0);
    const samples = (await readFile(path.join(place, 'live', 'samples.jsonl'), 'utf8')).trim().split('\n').map((line) => JSON.parse(line) as { verified: boolean; reason: string });
    expect(samples.map(({ verified, reason }) => [verified, reason])).toEqual([[true, 'All 2 tests passed.'], [false, '0 of 2 tests passed. No test that failed before passed.']]);
  }, PATIENT_MS);

  it('whose image is not there is not begun, and the message says how to get it', async () => {
    const row = { ...(JSON.parse(await readFile(path.join(place, 'rows.jsonl'), 'utf8')) as object), image: 'localhost/conductor-swe-bench:none' };
    await writeFile(path.join(place, 'none.jsonl'), JSON.stringify(row));
    const { code, stderr } = await conductor('eval', 'none.jsonl', '-c', 'alone', '--out', 'none', '--max-usd', '1', '--yes');
    expect(code).toBe(2);
    expect(stderr).toContain('pull localhost/conductor-swe-bench:none');
  }, PATIENT_MS);
});
