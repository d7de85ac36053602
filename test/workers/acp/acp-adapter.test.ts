import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { WorkerConfig } from '../../../backend/protocol/worker-config.ts';
import { AcpAdapter } from '../../../backend/workers/adapters/acp/acp-adapter.ts';
import type { RunAgent } from '../../../backend/workers/adapters/acp/run-agent.ts';
import { WorkerError } from '../../../backend/workers/errors.ts';
import type { AgentAct, ModelReply } from '../../../backend/workers/model.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { workerOf } from '../harness.ts';

/* The protocol with a simulated agent, a real process without a sandbox. `test/wiring/agents.test.ts` runs it in the sandbox. */

const FAKE = fileURLToPath(new URL('fake-agent.ts', import.meta.url));

/** As the one with the sandbox, without its walls. */
const run: RunAgent = async ({ worker, place, timeoutMs, signal }, talk) => {
  const [program = '', ...args] = worker.agent?.command ?? [];
  const folder = place?.folder ?? (await temporaryFolder());
  const child = spawn(program, args, { cwd: folder, stdio: 'pipe' });
  let exceeded: 'time' | undefined;
  let stderr = '';
  child.stderr.on('data', (piece) => (stderr += String(piece)));
  child.stdin.on('error', () => undefined);
  const kill = (): void => void child.kill('SIGKILL');
  const timer = setTimeout(() => ((exceeded = 'time'), kill()), timeoutMs);
  signal.addEventListener('abort', kill, { once: true });
  talk({ input: child.stdin, output: child.stdout, folder });
  const [exitCode] = (await once(child, 'exit')) as [number | null];
  clearTimeout(timer);
  signal.throwIfAborted();
  return { exitCode, exceeded, stderr };
};

const agentOf = (mode: string, fields: Partial<WorkerConfig> = {}, agent: Partial<WorkerConfig['agent']> = {}): WorkerConfig => workerOf({
  provider: 'acp', model: 'default', key: undefined, ...fields,
  agent: { command: [process.execPath, FAKE, mode], home: [], hosts: [], env: {}, stepTokens: 5_000, minutes: 1, ...agent },
});

interface Outcome {
  readonly reply?: ModelReply;
  readonly error?: WorkerError;
  readonly acts: readonly AgentAct[];
  readonly text: string;
  readonly folder: string;
  readonly ended: number;
}

async function ask(worker: WorkerConfig, signal = new AbortController().signal): Promise<Outcome> {
  const folder = path.join(await temporaryFolder(), 'copy');
  await mkdir(path.join(folder, 'src'), { recursive: true });
  await writeFile(path.join(folder, 'src/shapes.js'), 'export const area = (a, b) => a + b;\n');
  const acts: AgentAct[] = [];
  let [text, ended] = ['', 0];
  const place = { folder, hidden: [], readable: [], programFolders: [], environment: {}, ended: () => Promise.resolve(void (ended += 1)) };
  const asked = new AcpAdapter({ worker, key: undefined, run }).stream(
    { messages: [{ role: 'user', content: 'Your subtask: mend it.' }], maxOutputTokens: 100, place },
    { signal, onText: (piece) => (text += piece), onThinking: () => {}, onActivity: () => {}, onAct: (act) => acts.push(act) },
  );
  const result = await asked.then((reply) => ({ reply }), (error: unknown) => ({ error: error as WorkerError }));
  if ('error' in result) expect(result.error).toBeInstanceOf(WorkerError);
  return { ...result, acts, text, folder, ended };
}

describe('an agent', () => {
  it('works in its folder, tells what it does, and ends with its last message, its tokens and its cost', async () => {
    const { reply, acts, text, folder, ended } = await ask(agentOf('edit'));
    expect(reply).toEqual({
      text: 'Simulated: done. Permissions: once, no, no, once, no. Asked: a subtask.', finishReason: 'stop', usd: 0.25, model: 'small',
      usage: { uncachedInput: 1_000, cacheRead: 0, cacheWrite: 0, output: 50, reasoning: 0, estimated: false },
    });
    expect(acts).toEqual([
      { text: 'I look first.', call: { id: 'read', name: 'read', arguments: 'Read src/shapes.js' }, result: 'some text' },
      {
        text: '', call: { id: 'edit', name: 'edit', arguments: 'Edit src/shapes.js' },
        result: 'src/shapes.js\n-export const area = (a, b) => a + b;\n+export const area = (a, b) => a * b;',
      },
    ]);
    expect(text).toMatch(/^I look first\.\n\nSimulated: done\./);
    expect(await readFile(path.join(folder, 'src/shapes.js'), 'utf8')).toContain('a * b');
    expect(ended).toBe(1);
  });

  it('that says nothing of its cost counts with the tokens that were set aside, and no dollars are known', async () => {
    const { reply } = await ask(agentOf('quiet'));
    expect(reply).toMatchObject({ usage: { uncachedInput: 5_000, output: 0, estimated: true } });
    expect(reply?.usd).toBeUndefined();
  });

  it('counts the tokens that Gemini CLI tells, unless it tells none', async () => {
    const telling = (...counts: string[]): WorkerConfig => agentOf('quota', {}, { command: [process.execPath, FAKE, 'quota', ...counts] });
    expect((await ask(telling('3000', '40'))).reply).toMatchObject({ usage: { uncachedInput: 3_000, output: 40, estimated: true } });
    expect((await ask(telling('0', '0'))).reply).toMatchObject({ usage: { uncachedInput: 5_000, output: 0, estimated: true } });
  });

  it('takes the mode and the model of its worker, and is refused ones that it does not have', async () => {
    expect((await ask(agentOf('quiet', { model: 'large' }, { mode: 'code' }))).reply?.text).toBe('Simulated: done.');
    expect((await ask(agentOf('quiet', { model: 'huge' }))).error).toMatchObject({ kind: 'not-found', message: expect.stringContaining('does not offer the model "huge", but small, large;') });
    expect((await ask(agentOf('quiet', {}, { mode: 'yolo' }))).error).toMatchObject({ kind: 'not-found', message: expect.stringContaining('has no mode "yolo", but ask, code;') });
  });

  it('may say what is no message, and ask for what it is not offered', async () => {
    expect((await ask(agentOf('garbage'))).reply?.text).toBe('Simulated: all the same.');
  });

  it('that acts without end is reported within bounds', async () => {
    const { acts, reply } = await ask(agentOf('acts'));
    expect(reply?.text).toBe('Simulated: many acts.');
    expect(acts.length).toBe(300);
    expect(Math.max(...acts.map(({ result }) => result.length))).toBeLessThan(4_100);
  });

  it.each([
    ['dies', 'agent-failed', 'the agent ended with exit code 3 before it had answered (it said: "The simulated agent dies now.")'],
    ['error', 'agent-failed', 'the agent answered with an error (it said: "Internal error: The simulated provider is down.")'],
    ['cancelled', 'agent-failed', 'the agent cancelled its work'],
    ['flood', 'too-large', 'answered more than 1 MiB'],
    ['line', 'agent-failed', 'the connection to the agent broke'],
    ['unpaid', 'authentication', 'is not logged in'],
  ])('that is asked and %s fails in one sentence, and what was set aside counts', async (mode, kind, message) => {
    const { error, ended } = await ask(agentOf(mode));
    expect(error).toMatchObject({ kind, retryable: false, usage: { uncachedInput: 5_000, estimated: true } });
    expect(error?.message).toContain(message);
    expect(error?.message).not.toContain('\n');
    expect(ended).toBe(1);
  });

  it.each([
    ['no-login', 'authentication', 'the agent is not logged in'],
    ['old', 'agent-failed', 'speaks version 0 of the Agent Client Protocol, not 1'],
  ])('that cannot begin (%s) fails, and costs nothing', async (mode, kind, message) => {
    const { error } = await ask(agentOf(mode));
    expect(error).toMatchObject({ kind, message: expect.stringContaining(message), usage: { uncachedInput: 0, estimated: false } });
  });

  it.each(['endless', 'silent', 'no-json'])('that never ends (%s) is stopped at its limit of time', async (mode) => {
    const { error } = await ask(agentOf(mode, {}, { minutes: 0.02 }));
    expect(error).toMatchObject({ kind: 'agent-failed', message: expect.stringContaining('did not finish within 0.02 minutes and was stopped') });
  });

  it('that is cancelled ends at once, with what it was doing', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 1_500);
    const startedAt = performance.now();
    const { error, ended } = await ask(agentOf('endless'), controller.signal);
    expect(error?.kind).toBe('cancelled');
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(ended).toBe(1);
  });

  it('is greeted without being asked anything', async () => {
    expect(await new AcpAdapter({ worker: agentOf('edit'), key: undefined, run }).greet(new AbortController().signal)).toBe('Simulated agent 1.0');
    await expect(new AcpAdapter({ worker: agentOf('no-login'), key: undefined, run }).greet(new AbortController().signal)).rejects.toMatchObject({ kind: 'authentication' });
  });
});
