import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A fresh folder, as a real path, that is gone when the test is. */
export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'conductor-lm-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
