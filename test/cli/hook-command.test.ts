import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { GitRepository } from '../verify/git-repository.ts';
import { trySandbox } from '../verify/setup.ts';
import { conductorCommand } from './run-conductor.ts';

/* The built command as an agent calls it. */

const sandbox = await trySandbox();
const { places, run } = conductorCommand();

const SUM = 'export const sum = (a, b) => a + b;\n';
const TEST = 'import assert from "node:assert/strict";\nimport test from "node:test";\nimport { sum } from "../src/sum.js";\ntest("sums", () => assert.equal(sum(1, 2), 3));\n';

let project: GitRepository;
let count = 0;
beforeEach(async () => {
  await mkdir(places.home, { recursive: true, mode: 0o700 });
  project = new GitRepository(path.join(places.folder, `project-${(count += 1)}`), {
    'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node --test' } }), 'src/sum.js': SUM, 'test/sum.test.js': TEST,
  });
});

const change = (text: string, file = 'src/sum.js'): Promise<void> => writeFile(path.join(project.folder, file), text);
async function stop(more: object = {}, args: readonly string[] = ['--timeout', '100']): Promise<unknown> {
  const { code, stdout } = await run(['hook', 'stop', ...args], { input: JSON.stringify({ session_id: 's', cwd: project.folder, hook_event_name: 'Stop', ...more }) });
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

describe.skipIf(!sandbox.available)(`conductor hook stop ${sandbox.note}`, { timeout: 240_000 }, () => {
  it('keeps an agent that broke a test from stopping, once for the same change, and lets it stop when the test passes again', async () => {
    await change('export const sum = (a, b) => a - b;\n');
    expect(await stop()).toMatchObject({ decision: 'block', reason: expect.stringMatching(/1 test does not pass[\s\S]*test\/sum\.test\.js > sums: passed before, failed now/) });
    expect(await stop({ stop_hook_active: true })).toEqual({});
    await change('export const sum = (a, b) => a - b - 0;\n');
    expect(await stop({ stop_hook_active: true })).toMatchObject({ decision: 'block' });
    await change('export const sum = (a, b) => b + a;\n');
    expect(await stop({ stop_hook_active: true })).toEqual({ systemMessage: expect.stringMatching(/^Conductor: passes\. No test failed before the change, and 1 test passes with it\./) });
  });

  it('says verified where a test that failed passes, and tells once of one that still fails', async () => {
    project.commit({ 'src/sum.js': 'export const sum = (a, b) => a * b;\n' });
    await change('export const sum = (a, b) => a * b * 1;\n');
    expect(await stop()).toMatchObject({ decision: 'block', reason: expect.stringContaining('failed before, failed now') });
    await change('export const sum = (a, b) => a * b * 1 * 1;\n');
    expect(await stop({ stop_hook_active: true })).toMatchObject({ systemMessage: expect.stringContaining('still did not pass') });
    await change(SUM);
    expect(await stop()).toEqual({ systemMessage: expect.stringMatching(/^Conductor: verified\. 1 test that failed before passed/) });
  });
});

describe.skipIf(!sandbox.available)(`conductor hook stop, called by Gemini CLI ${sandbox.note}`, { timeout: 240_000 }, () => {
  it('tells once in a task of a test that still fails, though Gemini CLI does not say after a tool that it was kept', async () => {
    project.commit({ 'src/sum.js': 'export const sum = (a, b) => a * b;\n' });
    const transcript = path.join(places.folder, 'session.jsonl');
    const asked = (prompt: string): Promise<unknown> => stop({ hook_event_name: 'AfterAgent', prompt, transcript_path: transcript, prompt_response: 'Done.', stop_hook_active: false });
    await change('export const sum = (a, b) => a * b * 1;\n');
    expect(await asked('Multiply')).toMatchObject({ decision: 'block', reason: expect.stringContaining('failed before, failed now') });
    await change('export const sum = (a, b) => a * b * 1 * 1;\n');
    expect(await asked('Multiply')).toMatchObject({ systemMessage: expect.stringContaining('still did not pass') });
    expect(await asked('Multiply again')).toMatchObject({ decision: 'block' });
    // The person says the same once more.
    await writeFile(transcript, `${JSON.stringify({ id: 'm', type: 'user', content: [{ text: 'Multiply' }] })}\n`);
    expect(await asked('Multiply')).toMatchObject({ decision: 'block' });
  });
});

describe.skipIf(!sandbox.available)(`conductor hook pre-push ${sandbox.note}`, { timeout: 240_000 }, () => {
  it('refuses a push that breaks a test, lets one through that breaks none, and judges none of another commit', async () => {
    const before = project.git('rev-parse', 'HEAD').trim();
    project.commit({ 'src/sum.js': 'export const sum = (a, b) => a - b;\n' });
    const push = async (): Promise<readonly [number | null, string]> => {
      const { code, stderr } = await run(['hook', 'pre-push', 'origin', 'url'], {
        input: `refs/heads/main ${project.git('rev-parse', 'HEAD').trim()} refs/heads/main ${before}\n`, cwd: project.folder,
      });
      return [code, stderr];
    };
    expect(await push()).toEqual([1, expect.stringMatching(/what is about to be pushed[\s\S]*sums: passed before, failed now[\s\S]*git push --no-verify/)]);
    project.commit({ 'src/sum.js': 'export const sum = (a, b) => b + a;\n' });
    expect(await push()).toEqual([0, expect.stringContaining('Conductor: passes.')]);
    const other = await run(['hook', 'pre-push'], { input: `refs/heads/x ${before} refs/heads/x ${'0'.repeat(40)}\n`, cwd: project.folder });
    expect(other).toMatchObject({ code: 0, stderr: 'Conductor judges what is pushed …\n' });
    const unknown = await run(['hook', 'pre-push'], { input: `refs/heads/x ${project.git('rev-parse', 'HEAD').trim()} refs/heads/x ${'0'.repeat(40)}\n`, cwd: project.folder });
    expect(unknown).toMatchObject({ code: 0, stderr: expect.stringContaining('it is not known what the branch is built on') });
  });
});

describe('conductor hook stop', { timeout: 60_000 }, () => {
  it('is out of the way where nothing was changed, where there are no tests, and outside of a repository', async () => {
    expect(await stop()).toEqual({});
    project.commit({ 'package.json': '{}' });
    await rm(path.join(project.folder, 'test'), { recursive: true });
    project.commit({ 'src/sum.js': SUM });
    await change('export const sum = 1;\n');
    expect(await stop()).toEqual({});
    expect(await stop({ cwd: places.home })).toEqual({});
  });

  it('lets the agent stop where its time is over', async () => {
    await change('export const sum = (a, b) => a - b;\n');
    await change('import test from "node:test";\ntest("waits", () => new Promise((resolve) => setTimeout(resolve, 60_000)));\n', 'test/sum.test.js');
    project.commit({});
    await change('export const sum = 2;\n');
    expect(await stop({}, ['--timeout', '2'])).toEqual({ systemMessage: expect.stringContaining('did not end within 2 s') });
  });

  it('says what it is for to somebody who calls it by hand', async () => {
    expect(await run(['hook', 'stop'], { input: '' })).toMatchObject({ code: 2, stderr: expect.stringContaining('conductor install AGENT') });
    expect(await run(['hook'])).toMatchObject({ code: 2, stderr: expect.stringContaining('conductor hook stop') });
  });
});
