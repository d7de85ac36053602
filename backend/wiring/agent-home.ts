import { cp, lstat, mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** An agent's configuration is small. What is larger is its history, which it does not need. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_FILES = 5_000;

/** What was to be copied is more than a configuration. */
export class AgentHomeError extends Error {
  override readonly name = 'AgentHomeError';
}

/**
 * Copies an agent's configuration and login from one home to another. Links are followed, because people link their configuration. What is
 * missing is left out: not every agent has every file.
 * @param entries relative to both
 * @throws AgentHomeError
 */
export async function copyAgentHome(entries: readonly string[], from: string, to: string): Promise<void> {
  let [bytes, files] = [0, 0];
  const weigh = async (file: string): Promise<void> => {
    const found = await stat(file).catch(() => undefined);
    if (found?.isDirectory()) {
      for (const name of await readdir(file)) await weigh(path.join(file, name));
      return;
    }
    bytes += found?.size ?? 0;
    files += 1;
    if (bytes > MAX_BYTES || files > MAX_FILES) {
      throw new AgentHomeError(`The files named under "home" are more than ${MAX_BYTES / 1024 / 1024} MiB or ${MAX_FILES.toLocaleString('en')} files; name the configuration and the login alone.`);
    }
  };
  for (const entry of entries) {
    const source = path.join(from, entry);
    if (!(await lstat(source).catch(() => undefined))) continue;
    await weigh(source);
    const target = path.join(to, entry);
    await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
    await cp(source, target, { recursive: true, dereference: true, force: true, filter: isCopied });
  }
}

/** Not sockets and pipes, and no links that lead nowhere. */
async function isCopied(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && (found.isFile() || found.isDirectory());
}
