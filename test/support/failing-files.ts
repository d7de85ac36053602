import { vi } from 'vitest';
import type * as Promises from 'node:fs/promises';

/*
 * For `vi.mock('node:fs/promises', failingFiles)`: the real file system, on which a call that writes fails on demand. What a write got
 * onto the disk before it failed stays there, as on a full disk.
 */

const WRITES = ['open', 'writeFile', 'appendFile', 'mkdir', 'rename', 'cp', 'copyFile'] as const;
const HANDLE_WRITES = ['writeFile', 'write', 'sync'] as const;

let failure: { code: string; at: number } | undefined;
let writes = 0;

/** The call of this number fails from now on, and no other; with undefined none does. */
export function failWrites(next: typeof failure): void {
  failure = next;
  writes = 0;
}

function fails(): boolean {
  writes += 1;
  return writes === failure?.at;
}

function problem(call: string): Error {
  return Object.assign(new Error(`${failure?.code}: simulated, ${call}`), { code: failure?.code });
}

type Call = (...values: unknown[]) => Promise<unknown>;

/** Half of what a text would be, which is what a disk that fills up has taken of it. */
function torn(values: unknown[]): unknown[] {
  return values.map((value, index) => (index < 2 && typeof value === 'string' && value.length > 20 && value.includes('{') ? value.slice(0, value.length / 2) : value));
}

export async function failingFiles(): Promise<typeof Promises> {
  const real = await vi.importActual<typeof Promises>('node:fs/promises');
  const failing: Record<string, Call> = {};
  for (const name of WRITES) {
    const call = real[name] as Call;
    failing[name] = async (...values) => {
      const isRead = name === 'open' && values[1] !== 'wx' && values[1] !== 'w';
      if (isRead || !fails()) return name === 'open' ? failingHandle(await call(...values)) : call(...values);
      if (name === 'writeFile' || name === 'appendFile') await call(...torn(values));
      throw problem(name);
    };
  }
  return { ...real, ...failing } as unknown as typeof Promises;
}

function failingHandle(handle: unknown): unknown {
  const methods = handle as Record<string, Call>;
  for (const name of HANDLE_WRITES) {
    const call = methods[name]?.bind(handle) as Call;
    methods[name] = async (...values) => {
      if (!fails()) return call(...values);
      if (name === 'writeFile') await call(...torn(values));
      throw problem(name);
    };
  }
  return handle;
}
