import { spawn } from 'node:child_process';
import { once } from 'node:events';

const LIMIT_MS = 180_000;

/** Standard output and errors of a program, which gets no input. */
export async function outputOf(program: string, args: readonly string[], { cwd, env }: { cwd: string; env: Record<string, string> }): Promise<string> {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT_MS });
  const pieces: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => pieces.push(String(piece)));
  await once(child, 'close');
  return pieces.join('');
}
