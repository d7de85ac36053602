/*
 * The form that begins with "*** Begin Patch": operations on files, and in them hunks without line numbers. A line behind "@@" names the
 * function or type that a hunk is in.
 */

export interface PatchHunk {
  /** Lines that stand above the hunk, from the outside to the inside. */
  readonly scopes: readonly string[];
  /** With ' ', '-' or '+' before each line. */
  readonly lines: readonly string[];
  readonly isAtEnd: boolean;
}

export type PatchOperation =
  | { readonly kind: 'add'; readonly path: string; readonly content: string }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'update'; readonly path: string; readonly moveTo: string | undefined; readonly hunks: readonly PatchHunk[] }
  | { readonly kind: 'broken'; readonly path: string; readonly reason: string };

const BEGIN = /^\s*\*\*\* Begin Patch\s*$/;
const END = /^\s*\*\*\* End Patch\s*$/;
const OPERATION = /^\*\*\* (Add|Update|Delete|Create|Modify|Remove)(?: File)?: (.+?)\s*$/;
const MOVE = /^\*\*\* (?:Move to|Move File|Rename to): (.+?)\s*$/;

export function hasPatchOperations(lines: readonly string[]): boolean {
  return lines.some((line) => OPERATION.test(line));
}

/** The lines of patches in prose, and the lines around them. A patch without an end goes to the end of the text. */
export function splitPatches(lines: readonly string[]): { readonly isPatch: boolean; readonly lines: string[] }[] {
  const parts: { isPatch: boolean; lines: string[] }[] = [];
  let current: { isPatch: boolean; lines: string[] } = { isPatch: false, lines: [] };
  for (const line of lines) {
    if (!current.isPatch && (BEGIN.test(line) || OPERATION.test(line))) {
      parts.push(current);
      current = { isPatch: true, lines: [] };
    }
    current.lines.push(line);
    if (current.isPatch && END.test(line)) {
      parts.push(current);
      current = { isPatch: false, lines: [] };
    }
  }
  return [...parts, current].filter((part) => part.lines.length > 0);
}

/** @param mustEnd whether a missing end means that the text was cut off; not so in a fence that is closed */
export function readPatchOperations(lines: readonly string[], { mustEnd }: { readonly mustEnd: boolean }): PatchOperation[] {
  const isEnded = lines.some((line) => END.test(line));
  const found: PatchOperation[] = [];
  let open: { verb: string; path: string; moveTo: string | undefined; body: string[] } | undefined;
  const close = (): void => {
    if (open) found.push(operationOf(open));
    open = undefined;
  };
  for (const line of lines) {
    if (BEGIN.test(line)) continue;
    if (END.test(line)) break;
    const [, verb, path] = OPERATION.exec(line) ?? [];
    if (verb !== undefined && path !== undefined) {
      close();
      open = { verb, path, moveTo: undefined, body: [] };
    } else if (open) {
      const target = MOVE.exec(line)?.[1];
      if (target !== undefined && open.body.length === 0) open.moveTo = target;
      else open.body.push(line);
    }
  }
  close();
  const last = found.at(-1);
  if (!isEnded && mustEnd && last)
    return [...found.slice(0, -1), { kind: 'broken', path: last.path, reason: 'The patch has no "*** End Patch": the answer seems to be cut off.' }];
  return found;
}

function operationOf({ verb, path, moveTo, body }: { verb: string; path: string; moveTo: string | undefined; body: string[] }): PatchOperation {
  if (verb === 'Delete' || verb === 'Remove') return { kind: 'delete', path };
  if (verb === 'Add' || verb === 'Create') {
    const lines = body.slice(0, body.findLastIndex((line) => line.trim() !== '') + 1);
    const isMarked = lines.every((line) => line.startsWith('+') || line.trim() === '');
    const content = isMarked ? lines.map((line) => line.slice(1)) : lines;
    return { kind: 'add', path, content: `${content.join('\n')}\n` };
  }
  return { kind: 'update', path, moveTo, hunks: hunksOf(body) };
}

function hunksOf(body: readonly string[]): PatchHunk[] {
  const hunks: { scopes: string[]; lines: string[]; isAtEnd: boolean }[] = [];
  let current: { scopes: string[]; lines: string[]; isAtEnd: boolean } | undefined;
  for (const line of body) {
    if (line.startsWith('@@')) {
      const scope = line.replace(/^@@+\s?/, '').replace(/^-\d+(?:,\d+)? \+\d+(?:,\d+)? @@\s?/, '').replace(/\s*@@\s*$/, '');
      if (!current || current.lines.length > 0) hunks.push((current = { scopes: [], lines: [], isAtEnd: false }));
      if (scope.trim() !== '' && !/^\s*(?:\.{3}|…)\s*$/.test(scope)) current.scopes.push(scope);
      continue;
    }
    if (!current) hunks.push((current = { scopes: [], lines: [], isAtEnd: false }));
    if (/^\*\*\* End of File\s*$/.test(line)) current.isAtEnd = true;
    else if (/^[ +-]/.test(line)) current.lines.push(line);
    else if (!line.startsWith('\\')) current.lines.push(` ${line}`);
  }
  return hunks.map((hunk) => ({ ...hunk, lines: withoutBlankEnds(hunk.lines) })).filter(({ lines }) => lines.length > 0);
}

/** Blank lines at the end of a hunk are layout of the answer, unless they are marked. */
function withoutBlankEnds(lines: readonly string[]): string[] {
  return lines.slice(0, lines.findLastIndex((line) => line.trim() !== '') + 1);
}
