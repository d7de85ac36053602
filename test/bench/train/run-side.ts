import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { busyMs } from '../decode/quiet.ts';
import type { SideLine } from './job.ts';

export interface Update {
  readonly loss: number;
  readonly gradientNorm: number;
  readonly seconds: number;
  /** Of all cores: what a disturbed update can still be judged by, with care. */
  readonly cpuSeconds: number;
  /** Cores that something else used meanwhile. */
  readonly othersCores: number;
}

/** What a process has done that did nothing else. */
export interface SideRun {
  readonly version: string;
  readonly loadSeconds: number;
  /** Peaks of its memory: until the model was loaded, and from then on. */
  readonly loadingBytes: number;
  readonly updatingBytes: number;
  readonly updates: readonly Update[];
}

/** Where a side has ended before it was done; its last words were on the standard error. */
export class SideFailedError extends Error {
  override readonly name = 'SideFailedError';
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;

  constructor(name: string, code: number | null, signal: NodeJS.Signals | null) {
    super(`${name} has ended ${signal ? `by ${signal}` : `with ${code}`} before it was done; its last words are above`);
    this.code = code;
    this.signal = signal;
  }
}

/** @throws SideFailedError, and where the command cannot be started */
export async function runSide(name: string, command: string, args: readonly string[]): Promise<SideRun> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child, 'spawn');
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const updates: Update[] = [];
  let loaded: Extract<SideLine, { kind: 'loaded' }> | undefined;
  let last: Extract<SideLine, { kind: 'ended' }> | undefined;
  let busy = busyMs();
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as SideLine;
    const busyBefore = busy;
    busy = busyMs();
    if (line.kind === 'loaded') loaded = line;
    else if (line.kind === 'ended') last = line;
    else {
      const { loss, gradientNorm, seconds, cpuSeconds } = line;
      updates.push({ loss, gradientNorm, seconds, cpuSeconds, othersCores: Math.max(0, ((busy - busyBefore) / 1000 - cpuSeconds) / seconds) });
    }
  }
  const [code, signal] = await ended;
  if (!loaded || !last || code !== 0) throw new SideFailedError(name, code, signal);
  return { version: loaded.version, loadSeconds: loaded.seconds, loadingBytes: loaded.peakBytes, updatingBytes: last.peakBytes, updates };
}
