import { setTimeout } from 'node:timers/promises';

/** What Windows says while another program has a file open: a scanner of viruses, an indexer, or a process that is just ending. */
const LOCKED = new Set(['EBUSY', 'EPERM', 'EACCES', 'ENOTEMPTY']);

/** Doubled with each attempt: a second and a half in all. */
const FIRST_WAIT_MS = 10;
const ATTEMPTS = 8;

/** Does something with files, on Windows again and again while they are locked. Rejects as `action` does the last time. */
export async function whileLocked<Result>(action: () => Promise<Result>, platform: NodeJS.Platform = process.platform): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await action();
    } catch (error) {
      const isLocked = platform === 'win32' && LOCKED.has((error as NodeJS.ErrnoException).code ?? '');
      if (!isLocked || attempt === ATTEMPTS) throw error;
    }
    await setTimeout(FIRST_WAIT_MS * 2 ** (attempt - 1));
  }
}
