import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { GitHead } from './git-head.ts';
import { runGit } from './git-safety.ts';

/** How Git converts the contents of a file when it is committed. */
export interface Conversion {
  /** When CRLF becomes LF: always, or only if the file has no CRLF in the last commit. */
  readonly lineEnds?: 'always' | 'auto' | undefined;
  /** The name of a further filter, usually a program. */
  readonly filter?: string | undefined;
  /** Whether, by its size and time, a file with a filter is unchanged since Git wrote it from the last commit. */
  readonly isAsCommitted?: boolean;
}

/** What .gitattributes and the configuration say of these files (https://git-scm.com/docs/gitattributes). @throws as `runGit` */
export async function conversionsOf(
  head: GitHead,
  files: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Conversion>> {
  if (files.length === 0) return new Map();
  const { workspace } = head;
  const attributes = await attributesOf(workspace, files, signal);
  const autocrlf = ['true', 'input'].includes(await gitSetting(workspace, ['core.autocrlf'], signal));
  const conversions = new Map(files.map((file) => [file, conversionOf(attributes.get(file) ?? new Map(), autocrlf)]));
  if ([...conversions.values()].every(({ filter }) => filter === undefined)) return conversions;
  const asCommitted = await filesAsCommitted(head, signal);
  return new Map(
    [...conversions].map(([file, found]) => [
      file,
      { ...found, isAsCommitted: found.filter !== undefined && asCommitted.has(file) },
    ]),
  );
}

type Attributes = ReadonlyMap<string, string>;

async function attributesOf(
  workspace: string,
  files: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Attributes>> {
  const asked = ['text', 'eol', 'filter', 'ident', 'working-tree-encoding'];
  const input = files.map((file) => `${file}\0`).join('');
  const listed = (await runGit(workspace, ['check-attr', '-z', '--stdin', ...asked], { signal, input })).toString().split('\0');
  const byFile = new Map(files.map((file) => [file, new Map<string, string>()]));
  for (let index = 0; index + 2 < listed.length; index += 3) {
    const [file = '', name = '', value = ''] = listed.slice(index, index + 3);
    if (value !== 'unspecified') byFile.get(file)?.set(name, value);
  }
  return byFile;
}

function conversionOf(attributes: Attributes, autocrlf: boolean): Conversion {
  const isOn = (name: string): boolean => attributes.has(name) && attributes.get(name) !== 'unset';
  const filter = isOn('filter') ? attributes.get('filter') : ['ident', 'working-tree-encoding'].find(isOn);
  const text = attributes.get('text');
  if (text === 'unset') return { filter };
  if (text === 'auto') return { filter, lineEnds: 'auto' };
  return { filter, lineEnds: text !== undefined || isOn('eol') ? 'always' : autocrlf ? 'auto' : undefined };
}

/** Files that are unchanged by size and time. For other files with a filter, only the filter could show whether they changed. */
async function filesAsCommitted({ workspace, files }: GitHead, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const listed = (await runGit(workspace, ['ls-files', '-z', '--stage', '--debug'], { signal })).toString();
  const entry = /\d+ ([0-9a-f]+) 0\t([^\0]*)\0  ctime: .*\n  mtime: (\d+):(\d+)\n  dev: .*\n  uid: .*\n  size: (\d+)\t.*\n/g;
  const asCommitted = new Set<string>();
  for (const [, id, file = '', seconds = '0', nanoseconds = '0', size] of listed.matchAll(entry)) {
    if (id !== files.get(file)?.id) continue;
    const found = lstatSync(path.join(workspace, file), { bigint: true, throwIfNoEntry: false });
    const writtenNs = BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds);
    if (found?.mtimeNs === writtenNs && String(found.size) === size) asCommitted.add(file);
  }
  return asCommitted;
}

/** A value of Git's configuration, in lower case; empty if there is none. @throws the signal's reason */
export async function gitSetting(workspace: string, name: readonly string[], signal: AbortSignal): Promise<string> {
  // Git exits with 1 if the value is not set.
  const value = await runGit(workspace, ['config', '--get', ...name], { signal }).catch(() => Buffer.alloc(0));
  signal.throwIfAborted();
  return value.toString().trim().toLowerCase();
}
