import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/** For the model that called: the sentence is the result of its call. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/**
 * The project that a call is about, as a real path. A model names it, so only the folders of the client and what is inside them are allowed:
 * solving sends code of the project to workers.
 * @param allowed absolute; the first one is meant where none is named
 * @throws ToolError
 */
export async function allowedFolder(named: string | undefined, allowed: readonly string[]): Promise<string> {
  const [first = ''] = allowed;
  const asked = path.resolve(first, named ?? '.');
  const found = await realOf(asked);
  if (found === undefined) throw new ToolError(`There is no folder ${asked}.`);
  const roots = (await Promise.all(allowed.map(realOf))).filter((root) => root !== undefined);
  if (roots.some((root) => found === root || found.startsWith(root.endsWith(path.sep) ? root : root + path.sep))) return found;
  throw new ToolError(`${asked} is outside the folders of this server: ${[...new Set(allowed)].join(', ')}. Name one inside them, or start "conductor mcp" with --workspace.`);
}

async function realOf(folder: string): Promise<string | undefined> {
  const found = await stat(folder).catch(() => undefined);
  return found?.isDirectory() ? await realpath(folder) : undefined;
}
