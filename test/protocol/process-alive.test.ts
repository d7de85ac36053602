import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { isProcessAlive } from '../../backend/protocol/client/process-alive.ts';

it('takes this process for alive, and ids that no process has for dead', () => {
  expect(isProcessAlive(process.pid)).toBe(true);
  expect(isProcessAlive(2 ** 22 + 1)).toBe(false);
  expect(isProcessAlive(2 ** 30)).toBe(false);
});

it('tells a living process from one that ended', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  expect(isProcessAlive(child.pid as number)).toBe(true);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(isProcessAlive(child.pid as number)).toBe(false);
});

it.skipIf(process.platform !== 'linux')('takes a killed process for dead, though its parent has not buried it', async () => {
  // A shell that waits for nothing: its child stays a zombie until the shell itself ends.
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; kill -9 $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
  await expect.poll(() => isProcessAlive(Number(line))).toBe(false);
  expect(() => process.kill(Number(line), 0)).not.toThrow();
  parent.kill('SIGKILL');
});
