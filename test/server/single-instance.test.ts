import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeRecord } from '../../backend/protocol/client/discovery.ts';
import { claimInstance, InstanceHeldError } from '../../backend/server/single-instance.ts';

let home: string;
const children: ChildProcess[] = [];
beforeEach(async () => { home = await mkdtemp(path.join(tmpdir(), 'conductor-home-')); });
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(home, { recursive: true, force: true });
});

const record = (pid: number) =>
  ({ port: 1, pid, version: '1.0.0', protocol: { major: 1, minor: 0 }, token: 'x'.repeat(43), startedAt: 0 });

/** Another process that holds the claim and has no record. */
async function holder(): Promise<ChildProcess> {
  const module = new URL('../../backend/server/single-instance.ts', import.meta.url).href;
  const program = `
    const { claimInstance } = await import(${JSON.stringify(module)});
    const claim = await claimInstance(${JSON.stringify(home)});
    console.log(claim.mine);
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  expect(String(await new Promise((resolve) => child.stdout.once('data', resolve))).trim()).toBe('true');
  return child;
}

test('a home that nobody holds is claimed, and free again when released', async () => {
  for (let turn = 0; turn < 3; turn += 1) {
    const claim = await claimInstance(home);
    if (!claim.mine) throw new Error('Somebody else holds it.');
    claim.instance.release();
  }
});

test('the second one gets the record of the first', async () => {
  const { pid } = await holder();
  await writeRecord(home, record(pid as number));
  expect(await claimInstance(home)).toEqual({ mine: false, record: record(pid as number) });
});

test('a holder that never says how to reach it is named in the error', async () => {
  await holder();
  await expect(claimInstance(home, 1)).rejects.toThrow(InstanceHeldError);
  await expect(claimInstance(home, 1)).rejects.toThrow(home);
});

test('a stale record beside a held lock is not taken for the holder\'s', async () => {
  await holder();
  const dead = await holderOfNothing();
  await writeRecord(home, record(dead));
  await expect(claimInstance(home, 1)).rejects.toThrow(InstanceHeldError);
});

test('SIGKILL frees the lock at once, and the next one waits for nothing else', async () => {
  const child = await holder();
  const waiting = claimInstance(home);
  child.kill('SIGKILL');
  expect(await waiting).toMatchObject({ mine: true });
});

/** The id of a process that has ended. */
async function holderOfNothing(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
  await new Promise((resolve) => child.once('exit', resolve));
  return child.pid as number;
}
