import { access } from 'node:fs/promises';
import path from 'node:path';
import { OWN_IGNORE_FILE } from './list-files.ts';
import type { Ripgrep } from './ripgrep.ts';
import { isSecretFile } from '../common/secrets/secret-files.ts';

/**
 * Of the paths of a folder, those that no model is sent whatever it asks for: files whose name says that they hold secrets, and those that
 * .conductorignore names. @throws RipgrepUnavailableError if that file cannot be applied, or the signal's reason
 */
export async function neverSent(root: string, paths: Iterable<string>, ripgrep: Ripgrep, signal: AbortSignal): Promise<string[]> {
  const allowed = await allowedByOwnFile(root, ripgrep, signal);
  return [...paths].filter((file) => isSecretFile(file) || (allowed !== undefined && !allowed.has(file)));
}

/** Undefined: there is no such file, so it names nothing. */
async function allowedByOwnFile(root: string, ripgrep: Ripgrep, signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
  const isThere = await access(path.join(root, OWN_IGNORE_FILE)).then(() => true, () => false);
  if (!isThere) return undefined;
  const allowed = new Set<string>();
  await ripgrep.run({
    args: ['--no-ignore', '--ignore-file', OWN_IGNORE_FILE, '--files', '--hidden', '--null', '--no-messages', '--path-separator', '/'],
    folder: root, separator: '\0', onRecord: (file) => allowed.add(file), signal,
  });
  return allowed;
}
