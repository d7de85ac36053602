import { diffsOutsideFences, looksLikeDiff } from './diff-text.ts';
import { splitFences, type Fence } from './fences.ts';
import { namedPath, type NamedPath } from './named-path.ts';
import { hasConflictMarkers, readReplacements, type Replacement } from './replace-blocks.ts';

/** One change of an answer, as written and unchecked. */
export type AnswerBlock =
  | { readonly kind: 'whole-file'; readonly named: NamedPath; readonly language: string; readonly content: string }
  | { readonly kind: 'replacements'; readonly path: string | undefined; readonly replacements: readonly Replacement[] }
  | { readonly kind: 'diff'; readonly text: string }
  /** A code block that names no file. */
  | { readonly kind: 'unnamed'; readonly language: string; readonly content: string }
  /** A block that names a file but cannot be used. */
  | { readonly kind: 'broken'; readonly path: string; readonly reason: string };

/** Finds all possible edits in an answer: code blocks, diffs and search/replace blocks, with or without fences. */
export function findBlocks(answer: string): AnswerBlock[] {
  return splitFences(answer.replaceAll('\r\n', '\n')).flatMap((part) =>
    part.kind === 'prose' ? fromProse(part.lines) : fromFence(part),
  );
}

function fromProse(lines: readonly string[]): AnswerBlock[] {
  const diffs = diffsOutsideFences(lines).map((text): AnswerBlock => ({ kind: 'diff', text }));
  return hasConflictMarkers(lines) ? diffs.concat(fromReplacements(lines, undefined)) : diffs;
}

function fromFence(fence: Fence): AnswerBlock[] {
  const { language } = fence;
  if (fence.unclosed) {
    const path = namedPath(fence)?.path;
    return path === undefined
      ? []
      : [{ kind: 'broken', path, reason: 'The code block is not closed: the answer seems to be cut off.' }];
  }
  const named = namedPath(fence);
  if (looksLikeDiff(fence.lines)) return [{ kind: 'diff', text: fence.lines.join('\n') }];
  if (/^(diff|patch|udiff)$/i.test(language)) return [{ kind: 'diff', text: withHeaders(fence.lines, named?.path).join('\n') }];
  if (hasConflictMarkers(fence.lines)) return fromReplacements(fence.lines, named?.path);
  if (named === undefined) return [{ kind: 'unnamed', language, content: fence.lines.join('\n') }];
  if (named.conflict !== undefined) {
    return [{ kind: 'broken', path: named.path, reason: `The code block names two files, this one and ${named.conflict}.` }];
  }
  const lines = named.fromFirstLine ? fence.lines.slice(1) : fence.lines;
  return [{ kind: 'whole-file', named, language, content: lines.join('\n') }];
}

/** A block of changed lines. The file's name is beside the block. */
function withHeaders(lines: readonly string[], path: string | undefined): readonly string[] {
  if (path === undefined) return lines;
  const hunks = lines.some((line) => line.startsWith('@@')) ? lines : ['@@', ...lines];
  return [`--- a/${path}`, `+++ b/${path}`, ...hunks];
}

function fromReplacements(lines: readonly string[], path: string | undefined): AnswerBlock[] {
  return readReplacements(lines, path).map((found) =>
    'reason' in found
      ? { kind: 'broken', path: found.path ?? path ?? '(no path)', reason: found.reason }
      : { kind: 'replacements', path: found.path, replacements: [found.replacement] },
  );
}
