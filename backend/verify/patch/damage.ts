import type { Language } from '../syntax/language.ts';
import { namedItems, outlineOf, type Item } from '../syntax/outline.ts';
import { listed } from '../../common/listed.ts';

/**
 * What an edit breaks that no change means to: a file that can no longer be parsed was cut off or put together wrongly, and a function that is there
 * twice was put beside the one that it replaces. Undefined if there is no such thing.
 * @param isPlaced whether its name decided where code was put; a diff says so itself
 */
export async function damageOf(before: string | null, after: string, language: Language, { isPlaced }: { readonly isPlaced: boolean }): Promise<string | undefined> {
  const now = await outlineOf(after, language);
  if (!now) return undefined;
  const old = before === null ? undefined : await outlineOf(before, language);
  if (now.hasError && !old?.hasError) return 'The result cannot be parsed: the code seems to be cut off or incomplete.';
  if (language === 'python' && before !== null && !HAS_TABS.test(before) && HAS_TABS.test(after) && /^ +\S/m.test(after)) return 'The result would mix tabs and spaces.';
  if (!old || !isPlaced) return undefined;
  const [had, has] = [counted(old.items), counted(now.items)];
  const doubled = [...has].filter(([key, count]) => count > 1 && (had.get(key) ?? 0) === 1).map(([key]) => key.slice(0, key.indexOf('\n')));
  if (doubled.length > 0) return `The change would define ${listed([...new Set(doubled)])} twice.`;
  return undefined;
}

const HAS_TABS = /^ *\t/m;

/** How often each function and type is defined, by its name and its header. */
function counted(items: readonly Item[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { path, item } of namedItems(items)) {
    if (item.kind !== 'function' && item.kind !== 'type') continue;
    // Implementations may be split, and getters and setters share a name.
    if (item.name.startsWith('impl ')) continue;
    const key = `${path}\n${item.header}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
