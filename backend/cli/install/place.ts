import { applyEdits, findNodeAtLocation, getNodeValue, modify, parseTree, type ParseError } from 'jsonc-parser';
import { UsageError } from '../usage-error.ts';
import type { JsonPlacement, Placement, TextPlacement } from './agents.ts';

/* Texts with and without what Conductor adds to them. All else stays as it is, with comments, order and line ends. */

/** What some editors of Windows begin a text with. */
const BYTE_ORDER_MARK = '\uFEFF';
const isMarked = (text: string | null): text is string => text?.startsWith(BYTE_ORDER_MARK) ?? false;

/** The text of a file with what is placed in it. @param before null if there is no file. @throws UsageError if it cannot be read */
export function withPlaced(before: string | null, placement: Placement): string {
  if (isMarked(before) && placement.kind !== 'whole') return BYTE_ORDER_MARK + withPlaced(before.slice(1), placement);
  switch (placement.kind) {
    case 'whole':
      return placement.text;
    case 'text':
      return withTable(before ?? '', placement);
    case 'json':
      return withValue(before, placement);
  }
}

/**
 * The text without what was placed in it; null if nothing else is left of a file that Conductor made.
 * @param isOwn the file was made by Conductor. @throws UsageError if it cannot be read
 */
export function withoutPlaced(text: string, placement: Placement, { isOwn }: { readonly isOwn: boolean }): string | null {
  if (isMarked(text) && placement.kind !== 'whole') return BYTE_ORDER_MARK + (withoutPlaced(text.slice(1), placement, { isOwn: false }) ?? '');
  switch (placement.kind) {
    case 'whole':
      return text === placement.text ? null : text;
    case 'text': {
      const found = placement.written.exec(text);
      if (!found) return text;
      const rest = text.slice(0, found.index).replace(/(\r?\n)\r?\n$/, '$1') + text.slice(found.index + found[0].length);
      return isOwn && rest.trim() === '' ? null : rest;
    }
    case 'json': {
      const rest = withoutValue(text, placement);
      return isOwn && isEmptyBeside(rest, placement) ? null : rest;
    }
  }
}

function withTable(text: string, { header, text: table, written }: TextPlacement): string {
  const eol = endOfLine(text);
  if (header.test(text)) return text.replace(written, () => inLines(table, eol));
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
  return text + gap + inLines(table, eol);
}

function withValue(before: string | null, placement: JsonPlacement): string {
  const text = before === null || before.trim() === '' ? `${JSON.stringify(placement.around ?? {}, undefined, 2)}\n` : before;
  checkJson(text, placement);
  const places = placesOf(text, placement);
  if (places.length > 0) return places.reduce((all, place) => withOwnProgram(all, place, placement), text);
  const { path, value } = placement;
  const isArray = path.at(-1) === -1;
  const list = isArray ? findNodeAtLocation(parseTree(text, [], LENIENT)!, path.slice(0, -1) as string[]) : undefined;
  const at = isArray ? (list ? path : path.slice(0, -1)) : path;
  return applyEdits(text, modify(text, [...at] as string[], isArray && !list ? [value] : value, { formattingOptions: formatOf(text), isArrayInsertion: isArray && list !== undefined }));
}

function withoutValue(text: string, placement: JsonPlacement): string {
  checkJson(text, placement);
  let rest = text;
  for (const place of placesOf(text, placement).reverse()) {
    rest = applyEdits(rest, modify(rest, place as string[], undefined, { formattingOptions: formatOf(rest) }));
    // What was there for this value alone goes, too.
    for (let length = place.length - 1; length > 0; length -= 1) {
      const around = findNodeAtLocation(parseTree(rest, [], LENIENT)!, place.slice(0, length) as string[]);
      if (!around || (around.children?.length ?? 1) > 0) break;
      rest = applyEdits(rest, modify(rest, place.slice(0, length) as string[], undefined, { formattingOptions: formatOf(rest) }));
    }
  }
  return rest;
}

/**
 * The program that a value starts, as its text has it; undefined where it is not Conductor's. What else there is, such as a time limit, may be changed
 * by a person.
 */
function programIn(value: unknown): string | undefined {
  const [, ...commands] = (JSON.stringify(value) ?? '').split('"command":');
  // Beside another's hook, it is that person's affair.
  return commands.length === 1 ? /^(.*?)(?: hook stop --timeout \d|"mcp")/.exec(commands[0] ?? '')?.[1] : undefined;
}

/** The value written anew where it starts another program: Node was updated, or Conductor is somewhere else by now. */
function withOwnProgram(text: string, place: readonly (string | number)[], { value }: JsonPlacement): string {
  const there = programIn(getNodeValue(findNodeAtLocation(parseTree(text, [], LENIENT)!, [...place] as string[])!));
  if (there === undefined || there === programIn(value)) return text;
  return applyEdits(text, modify(text, [...place] as string[], value, { formattingOptions: formatOf(text) }));
}

/** Where the file has the value, for whatever program. */
function placesOf(text: string, { path }: JsonPlacement): (string | number)[][] {
  const root = parseTree(text, [], LENIENT);
  if (!root) return [];
  if (path.at(-1) !== -1) return findNodeAtLocation(root, [...path] as string[]) ? [[...path]] : [];
  const list = findNodeAtLocation(root, path.slice(0, -1) as string[]);
  return (list?.children ?? []).flatMap((child, index) => (programIn(getNodeValue(child)) === undefined ? [] : [[...path.slice(0, -1), index]]));
}

const isEmptyBeside = (text: string, { around = {} }: JsonPlacement): boolean => {
  const root = parseTree(text, [], LENIENT);
  return root !== undefined && JSON.stringify(getNodeValue(root)) === JSON.stringify(around) && !/\/[/*]/.test(text);
};

const LENIENT = { allowTrailingComma: true } as const;

/** @throws UsageError for a file that cannot be read, or whose values are of another kind */
function checkJson(text: string, { file, path }: JsonPlacement): void {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, LENIENT);
  const [first] = errors;
  if (!root || root.type !== 'object' || first) {
    const line = text.slice(0, first?.offset ?? 0).split('\n').length;
    throw new UsageError(`${file} is no JSON object that can be read (line ${line}). Mend it, and install again; nothing was changed.`);
  }
  for (let length = 1; length < path.length; length += 1) {
    const node = findNodeAtLocation(root, path.slice(0, length) as string[]);
    if (!node) return;
    const wanted = typeof path[length] === 'number' ? 'array' : 'object';
    if (node.type !== wanted) throw new UsageError(`${file} has no ${wanted} at "${path.slice(0, length).join('.')}", so nothing can be added there; nothing was changed.`);
  }
}

function formatOf(text: string): { insertSpaces: boolean; tabSize: number; eol: string } {
  const [, indent = '  '] = /^([ \t]+)\S/m.exec(text) ?? [];
  return { insertSpaces: !indent.startsWith('\t'), tabSize: indent.startsWith('\t') ? 1 : indent.length, eol: endOfLine(text) };
}

const endOfLine = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');
const inLines = (text: string, eol: string): string => text.replaceAll('\n', eol);
