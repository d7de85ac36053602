import type { FileChange } from '../protocol/file-change.ts';

/** What changed from one text to the other; null: there is no such file. */
export function changeOf(path: string, before: string | null, after: string | null): FileChange {
  if (before === null || after === null) return { path, line: 1, removed: before, inserted: after };
  const [old, now] = [linesOf(before), linesOf(after)];
  const most = Math.min(old.length, now.length);
  let start = 0;
  while (start < most && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < most - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  return {
    path, line: start + 1,
    removed: old.slice(start, old.length - end).join(''),
    inserted: now.slice(start, now.length - end).join(''),
  };
}

/** The text after a change; undefined if the change was made of another text. */
export function changed(before: string | null, { line, removed, inserted }: FileChange): string | null | undefined {
  if (removed === null || inserted === null) return before === removed ? inserted : undefined;
  if (before === null) return undefined;
  const start = linesOf(before).slice(0, line - 1).join('').length;
  if (!before.startsWith(removed, start)) return undefined;
  return before.slice(0, start) + inserted + before.slice(start + removed.length);
}

/** Later changes of a file replace earlier ones, for all are from the same base. A file that is as it was is not among them. */
export function lastOfEach(changes: readonly FileChange[]): FileChange[] {
  return [...new Map(changes.map((change) => [change.path, change])).values()].filter(({ removed, inserted }) => removed !== inserted);
}

/** With their line ends. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
