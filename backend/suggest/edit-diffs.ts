import { redact } from '../common/secrets/secrets.ts';
import type { RecentEdit } from '../protocol/suggestions.ts';

/** A line of nothing but the characters of a key. What stands around it, by which a key is recognized, is not in an edit. */
const KEY_MATERIAL = /(?:^|\s)[A-Za-z0-9+/=]{40,}\s*$/;

/**
 * An edit as a small unified diff without context, which models know from the history of projects.
 * @param path relative to the project
 * @returns undefined where the edit may show a secret, or changes nothing but space
 */
export function diffOf({ line, before, after }: RecentEdit, path: string): string | undefined {
  const removed = linesOf(before);
  const added = linesOf(after);
  if (removed.join('').replace(/\s/g, '') === added.join('').replace(/\s/g, '')) return undefined;
  if ([removed, added].some((lines) => redact(lines).secrets.size > 0 || lines.some((text) => KEY_MATERIAL.test(text)))) return undefined;
  const range = (count: number): string => `${line + 1}${count === 1 ? '' : `,${count}`}`;
  return [
    `--- a/${path}`, `+++ b/${path}`, `@@ -${range(removed.length)} +${range(added.length)} @@`,
    ...removed.map((text) => `-${text}`), ...added.map((text) => `+${text}`),
  ].join('\n');
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/\r?\n/);
}
