import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { readRecord } from '../../backend/protocol/client/discovery.ts';

// Every write to it fails with ENOSPC.
const FULL = '/dev/full';

test.runIf(process.platform === 'linux')('the backend outlives that its log cannot be written, because the disk is full', async () => {
  const home = await mkdtemp(path.join(tmpdir(), 'conductor-full-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const log = openSync(FULL, 'w');
  const backend = spawn(process.execPath, [fileURLToPath(new URL('../../backend/main.ts', import.meta.url))], {
    env: { ...process.env, CONDUCTOR_HOME: home }, stdio: ['ignore', 'ignore', log],
  });
  closeSync(log);
  const ended = new Promise<number | null>((resolve) => backend.once('exit', resolve));
  onTestFinished(() => void backend.kill('SIGKILL'));
  // Its first line comes right after the record, its last one when it is asked to end.
  while (!(await readRecord(home)) && backend.exitCode === null) await delay(20);
  backend.kill('SIGTERM');
  expect(await ended).toBe(0);
}, 60_000);
