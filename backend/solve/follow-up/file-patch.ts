import { applyPatch, formatPatch, parsePatch, reversePatch, type StructuredPatch } from 'diff';
import type { EditSummary } from '../../protocol/edit-summary.ts';

/*
 * A diff of one file, made or taken back. A hunk with less context than the usual three lines stands at the beginning or the end of its file.
 * The library would place it anywhere, and so add twice what was added at the end. With lines that stand for the two ends of a file, such a hunk
 * fits there alone. The line for the end says, too, whether the last line ends.
 */
export interface FilePatch {
  readonly kind: EditSummary['kind'];
  readonly patch: StructuredPatch;
  readonly hasEnds: boolean;
}

const CONTEXT_LINES = 3;
const BEGINNING = '\0beginning';
const END = { closed: '\0end', open: '\0end without a line end' };

/** Undefined if the text is no diff of one file. */
export function patchOf(kind: EditSummary['kind'], diff: string): FilePatch | undefined {
  try {
    const [patch, ...more] = parsePatch(diff);
    return patch && more.length === 0 ? { kind, patch, hasEnds: false } : undefined;
  } catch {
    return undefined;
  }
}

/** The same patch, whose hunks at the ends of the file fit nowhere else. */
export function withEnds({ kind, patch }: FilePatch): FilePatch {
  return { kind, patch: { ...patch, hunks: patch.hunks.map(hunkWithEnds) }, hasEnds: true };
}

/** The text with the patch, null for a file that is not there; undefined if it does not fit. */
export function changedBy(patch: FilePatch, now: string | null): string | null | undefined {
  const made = (now === null) === (patch.kind === 'create') ? applied(now ?? '', patch) : undefined;
  if (patch.kind !== 'delete' || made === undefined) return made;
  return made === '' ? null : undefined;
}

const REVERSED = { create: 'delete', modify: 'modify', delete: 'create' } as const;

/** The text without the patch, where it has it; undefined if it has not. */
export const takenBack = ({ kind, patch, hasEnds }: FilePatch, now: string | null): string | null | undefined =>
  changedBy({ kind: REVERSED[kind], patch: reversePatch(patch), hasEnds }, now);

/**
 * The text without a patch whose surroundings have changed since: each run of lines that it added stands there once, and in order. Undefined if one
 * does not, or if the patch took lines out and put none in their place, so that nothing tells where they were.
 */
export function takenBackAnywhere({ kind, patch }: FilePatch, now: string | null): string | undefined {
  if (now === null || kind !== 'modify') return undefined;
  let [kept, rest] = ['', `\n${now}`];
  for (const { added, removed } of patch.hunks.flatMap(({ lines }) => replacements(lines))) {
    const [before, after, ...more] = added.length === 0 ? [] : rest.split(`\n${added.join('\n')}\n`);
    if (before === undefined || after === undefined || more.length > 0 || kept.includes(`\n${added.join('\n')}\n`)) return undefined;
    kept += [before, ...removed].join('\n');
    rest = `\n${after}`;
  }
  return (kept + rest).slice(1);
}

interface Replacement {
  readonly added: string[];
  readonly removed: string[];
}

/** The runs of changed lines of a hunk. */
function replacements(lines: readonly string[]): Replacement[] {
  const runs: Replacement[] = [];
  let run: Replacement | undefined;
  for (const line of lines) {
    const isChange = line.startsWith('+') || line.startsWith('-');
    if (isChange && !run) runs.push((run = { added: [], removed: [] }));
    if (line.startsWith('+')) run?.added.push(line.slice(1));
    else if (line.startsWith('-')) run?.removed.push(line.slice(1));
    else run = undefined;
  }
  return runs;
}

/** What takes an edit back. Undefined if its diff is none of one file. */
export function reversed({ path, kind, diff }: EditSummary): EditSummary | undefined {
  const made = patchOf(kind, diff);
  return made && { path, kind: REVERSED[kind], diff: formatPatch(reversePatch(made.patch)) };
}

function hunkWithEnds({ oldStart, oldLines, newStart, newLines, lines }: StructuredPatch['hunks'][number]): StructuredPatch['hunks'][number] {
  const isChange = (line: string): boolean => line.startsWith('+') || line.startsWith('-');
  const shown = lines.filter((line) => !line.startsWith('\\'));
  const atBeginning = shown.findIndex(isChange) < CONTEXT_LINES;
  const atEnd = shown.length < lines.length || shown.length - 1 - shown.findLastIndex(isChange) < CONTEXT_LINES;
  const isOpen = (side: string): boolean => lines.some((line, index) => line.startsWith('\\') && [' ', side].includes(lines[index - 1]?.[0] ?? ''));
  const [before, after] = [isOpen('-') ? END.open : END.closed, isOpen('+') ? END.open : END.closed];
  const end = before === after ? [` ${before}`] : [`-${before}`, `+${after}`];
  const more = Number(atBeginning) + Number(atEnd);
  return {
    oldStart: oldStart + Number(!atBeginning), oldLines: oldLines + more, newStart: newStart + Number(!atBeginning), newLines: newLines + more,
    lines: [...(atBeginning ? [` ${BEGINNING}`] : []), ...shown, ...(atEnd ? end : [])],
  };
}

function applied(text: string, { patch, hasEnds }: FilePatch): string | undefined {
  const result = applyPatch(hasEnds ? framed(text) : text, patch, { autoConvertLineEndings: false });
  if (result === false) return undefined;
  return hasEnds ? unframed(result) : result;
}

function framed(text: string): string {
  const isClosed = text === '' || text.endsWith('\n');
  return `${BEGINNING}\n${text}${isClosed ? END.closed : `\n${END.open}`}\n`;
}

function unframed(text: string): string {
  const inside = text.slice(BEGINNING.length + 1);
  return inside.endsWith(`${END.open}\n`) ? inside.slice(0, -(END.open.length + 2)) : inside.slice(0, -(END.closed.length + 1));
}
