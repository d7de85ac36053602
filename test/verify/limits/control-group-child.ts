// Started in a control group, on a kernel with version 2 alone. Prints what becomes of hogs in groups that it makes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ControlGroups } from '../../../backend/verify/sandbox/limits/control-group.ts';
import { defaultLimits } from '../../../backend/verify/sandbox/limits/limits.ts';
import { shellQuote } from '../../../backend/verify/sandbox/shell-quote.ts';

const MIB = 1024 ** 2;
const limits = { ...defaultLimits(10_000), memoryBytes: 64 * MIB, processes: 20 };
const groups = new ControlGroups();

/** Runs a script in a group. */
async function inGroup(script: string): Promise<object | undefined> {
  const group = groups.create(limits);
  if (!group) return undefined;
  const child = spawn('/bin/sh', ['-c', `${group.joinLine}; ${script}`], { stdio: ['ignore', 'pipe', 'ignore'] });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code, killedBy] = (await once(child, 'exit')) as [number | null, string | null];
  const refused = group.refused();
  const folder = path.dirname(/'([^']+)'/.exec(group.joinLine)?.[1] ?? group.joinLine.replace(/^.*> /, ''));
  const settings = Object.fromEntries(['memory.max', 'memory.swap.max', 'pids.max'].map((file) => [file, existsSync(path.join(folder, file)) ? readFileSync(path.join(folder, file), 'utf8').trim() : undefined]));
  await group.remove();
  return { code, killedBy, refused, said, parent: path.dirname(folder), settings, isGone: !existsSync(folder) };
}

const node = (script: string): string => `exec ${process.execPath} -e ${shellQuote(script)}`;
process.stdout.write(`${JSON.stringify({
  harmless: await inGroup('cat /proc/self/cgroup'),
  memory: await inGroup(node('const kept = []; for (;;) kept.push(Buffer.alloc(1024 ** 2, 1));')),
  processes: await inGroup('for i in $(seq 40); do sleep 100 & done; exit 0'),
  daemon: await inGroup('(trap "" TERM HUP; setsid sleep 4321 > /dev/null 2>&1) & exit 0'),
})}\n`);
process.exit();
