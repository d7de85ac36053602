import type { FileRange } from '../../backend/protocol/run-request.ts';

/** What was attached to a message of a chat, or mentioned in it. Lines count from 0, both ends included. */
export type Attached =
  | { readonly kind: 'file'; readonly file: string; readonly startLine?: number; readonly endLine?: number }
  | { readonly kind: 'text'; readonly name: string; readonly text: string }
  | { readonly kind: 'picture'; readonly name: string; readonly read: () => Promise<Uint8Array> }
  /** What no question can hold. */
  | { readonly kind: 'other'; readonly name: string };

export interface Reference {
  /** Its place in the message, if it is mentioned there: from this character up to that one. */
  readonly range?: readonly [number, number] | undefined;
  readonly attached: Attached;
}

export interface ReadMessage {
  /** The message with the mentions in the form that a question has: `#src/route.ts`. */
  readonly question: string;
  /** Those that are attached and not mentioned. */
  readonly files: readonly FileRange[];
  /** Pictures to be read. */
  readonly pictures: readonly { readonly name: string; readonly read: () => Promise<Uint8Array> }[];
  /** What does not go with the question. */
  readonly leftOut: readonly string[];
}

/** As many as a question may name. */
const MAX_FILES = 64;
const MAX_TEXT = 20_000;

/**
 * A message of a chat as a question about a folder.
 * @param pathOf the path of a file relative to the folder; undefined for a file outside
 */
export function readMessage(
  prompt: string, references: readonly Reference[], pathOf: (file: string) => string | undefined,
): ReadMessage {
  const files: FileRange[] = [];
  const texts: string[] = [];
  const leftOut: string[] = [];
  let question = prompt;
  // Backwards, so that what is replaced does not move what is before it.
  const ordered = references.toSorted((a, b) => (b.range?.[0] ?? -1) - (a.range?.[0] ?? -1));
  for (const { range, attached } of ordered) {
    if (attached.kind === 'other') leftOut.push(attached.name);
    if (attached.kind === 'text') texts.unshift(`${attached.name}:\n${attached.text}`);
    if (attached.kind !== 'file') continue;
    const path = pathOf(attached.file);
    if (path === undefined) {
      leftOut.push(attached.file);
      continue;
    }
    const { startLine, endLine = startLine } = attached;
    const lines = startLine === undefined || endLine === undefined ? undefined : { startLine: startLine + 1, endLine: endLine + 1 };
    if (range) question = question.slice(0, range[0]) + mentionOf(path, lines) + question.slice(range[1]);
    else files.push({ path, ...lines });
  }
  const added = texts.join('\n\n').slice(0, MAX_TEXT);
  return {
    question: added === '' ? question : `${question}\n\n${added}`,
    files: files.slice(0, MAX_FILES),
    pictures: references.flatMap(({ attached }) => (attached.kind === 'picture' ? [attached] : [])),
    leftOut,
  };
}

function mentionOf(path: string, lines: { readonly startLine: number; readonly endLine: number } | undefined): string {
  const name = /^[\w./-]*[./][\w./-]*$/.test(path) ? path : `"${path}"`;
  return `#${name}${lines ? `:${lines.startLine}-${lines.endLine}` : ''}`;
}
