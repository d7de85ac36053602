import { FAMILIES } from './families/all-families.ts';
import type { SimulatedMessage } from './simulated-model.ts';

/** The text on both sides of a cursor. */
export interface Gap {
  readonly before: string;
  readonly after: string;
}

/** The gap that a chat request asks to fill; undefined for other requests. */
export function gapIn(messages: readonly SimulatedMessage[]): Gap | undefined {
  const asked = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  // Parts of other files may stand above.
  const [, mark, text] = /(?:^|\n)The mark is (<cursor(?:-\d+)?>)\. Wanted: [^\n]*\nFile: [^\n]*\n\n([\s\S]*)$/.exec(asked) ?? [];
  if (mark === undefined || text === undefined) return undefined;
  const at = text.indexOf(mark);
  return at === -1 ? undefined : { before: text.slice(0, at), after: text.slice(at + mark.length) };
}

/** The number of lines before the cursor that must match a module. */
const MOST_LINES = 4;
const FEWEST_CHARACTERS = 10;

/**
 * Fills a gap: with the rest of a known module of the sample project, or, in an unknown function, with a return of its first parameter.
 */
export function fillGap({ before, after }: Gap): string {
  return fromModule(before, after) ?? fromHeading(before) ?? '';
}

function fromModule(before: string, after: string): string | undefined {
  const lines = before.split('\n').slice(-MOST_LINES);
  for (; lines.length > 0; lines.shift()) {
    const tail = lines.join('\n');
    if (tail.trim().length < FEWEST_CHARACTERS) return undefined;
    for (const { source } of FAMILIES) {
      const at = source.indexOf(tail);
      if (at !== -1) return upTo(source.slice(at + tail.length), after);
    }
  }
  return undefined;
}

/** Cuts at the end of the block, or where the text after the cursor continues. */
function upTo(rest: string, after: string): string {
  const block = rest.split(/\n(?=\n)/)[0] ?? '';
  const next = after.split('\n').find((line) => line.trim() !== '');
  const lines = block.split('\n');
  const known = lines.findIndex((line, index) => index > 0 && line === next);
  return (known === -1 ? lines : lines.slice(0, known)).join('\n');
}

function fromHeading(before: string): string | undefined {
  const [, indent = '', parameter] = /(?:^|\n)([ \t]*)(?:export )?function \w+\((\w+)[^)\n]*\) \{$/.exec(before) ?? [];
  return parameter === undefined ? undefined : `\n${indent}  return ${parameter};\n${indent}}`;
}
