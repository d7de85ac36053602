import { endsItsLine, lineAfter, lineBefore, type Gap } from './gap.ts';

/** A suggestion that is ready for insertion. */
export interface Fitted {
  readonly text: string;
  /** Number of characters after the cursor to replace: brackets and quotes that the editor closed automatically. */
  readonly replaces: number;
}

/** Longer suggestions are hard to read while typing. */
const MAX_LINES = 30;
/** A shorter overlap can be a coincidence. */
const SHORTEST_OVERLAP = 3;

/**
 * Cuts a model's text to fit the gap: to the end of the line or of the block, without text that already follows the cursor. Returns
 * undefined if nothing is left.
 */
export function fitSuggestion(raw: string, gap: Gap): Fitted | undefined {
  const lines = raw.replaceAll('\r\n', '\n').split('\n');
  const kept = gap.multiline && endsItsLine(gap) ? blockOf(lines, gap) : lines.slice(0, 1);
  const text = kept.join('\n').trimEnd();
  if (text.trim() === '') return undefined;
  const next = linesBelow(gap)[0];
  if (text.trim() === next?.trim()) return undefined;
  const placed = beside(lineAfter(gap), text);
  return placed.text.trim() === '' ? undefined : placed;
}

/** True if more text of the model would not change the result, so that the request can end early. */
export function isComplete(raw: string, gap: Gap): boolean {
  const lines = raw.replaceAll('\r\n', '\n').split('\n');
  // The last line may be incomplete.
  const whole = lines.slice(0, -1);
  if (!gap.multiline || !endsItsLine(gap)) return whole.length > 0;
  return blockOf(whole, gap).length < whole.length || closesItsBlock(whole, gap);
}

/** Whether the last line closes the block that the cursor's line opened. */
function closesItsBlock(lines: readonly string[], gap: Gap): boolean {
  const last = lines.at(-1) ?? '';
  const isBlank = lineBefore(gap).trim() === '';
  return lines.length > 1 && !isBlank && closesBlock(last) && indentOf(last) === indentOf(lineBefore(gap));
}

/** The lines up to the end of their block. */
function blockOf(lines: readonly string[], gap: Gap): string[] {
  const base = indentOf(lineBefore(gap));
  const below = linesBelow(gap)[0];
  const kept: string[] = [lines[0] ?? ''];
  for (const line of lines.slice(1, MAX_LINES)) {
    if (line.trim() !== '') {
      const indent = indentOf(line);
      if (indent < base) break;
      if (below !== undefined && line.trimEnd() === below.trimEnd()) break;
      const isBlank = lineBefore(gap).trim() === '';
      // At the indentation of the line that opened the block, only the closing line belongs to the block.
      if (indent === base && !isBlank) {
        if (closesBlock(line)) kept.push(line);
        break;
      }
    }
    kept.push(line);
  }
  return kept;
}

/**
 * Fits the text to the rest of the line. Replaces automatically closed brackets if the text contains them in the same order; otherwise
 * removes the end of the text that overlaps with the rest of the line.
 */
function beside(rest: string, text: string): Fitted {
  const closers = rest.trimEnd();
  if (closers === '') return { text, replaces: 0 };
  const [first = '', ...more] = text.split('\n');
  if (endsItsLine({ after: rest }) && holds(more.length > 0 ? text : first, closers)) return { text, replaces: closers.length };
  for (let length = Math.min(closers.length, text.length); length > 0; length -= 1) {
    if (length < SHORTEST_OVERLAP && length < closers.length) break;
    if (text.endsWith(closers.slice(0, length))) return { text: text.slice(0, -length), replaces: 0 };
  }
  return { text, replaces: 0 };
}

/** Whether the text contains the characters in this order. */
function holds(text: string, characters: string): boolean {
  let from = 0;
  for (const character of characters) {
    const at = text.indexOf(character, from);
    if (at === -1) return false;
    from = at + 1;
  }
  return true;
}

function linesBelow(gap: Gap): string[] {
  return gap.after.slice(lineAfter(gap).length).split(/\r?\n/).filter((line) => line.trim() !== '');
}

function indentOf(line: string): number {
  return (/^\s*/.exec(line)?.[0] ?? '').replaceAll('\t', '    ').length;
}

function closesBlock(line: string): boolean {
  return /^\s*(?:[)\]}]|end\b|fi\b|done\b|esac\b)/.test(line);
}
