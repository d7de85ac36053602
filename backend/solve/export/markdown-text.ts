/*
 * Text of others in a Markdown document: shown as it is, and never taken for the document's own headings, links, HTML or ends of blocks.
 */

/** Characters that command a terminal, or show text in another order than it has. */
const COMMANDS = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu;

function visible(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(COMMANDS, '\ufffd');
}

/** More backticks in a row than the text has anywhere. */
function ticks(text: string, atLeast: number): string {
  const runs = (text.match(/`+/g) ?? []).map((run) => run.length);
  return '`'.repeat(Math.max(atLeast, ...runs.map((length) => length + 1)));
}

/** A fenced block that the text cannot end. `language` is our own word. */
export function fenced(text: string, language = 'text'): string {
  const shown = visible(text);
  const fence = ticks(shown, 3);
  return `${fence}${language}\n${shown}${shown.endsWith('\n') ? '' : '\n'}${fence}`;
}

/** On one line, as code. Not for tables, whose cells a `|` ends even there. */
export function code(text: string): string {
  const line = visible(text).replace(/\s+/g, ' ').trim() || ' ';
  const tick = ticks(line, 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${tick}${pad}${line}${pad}${tick}`;
}

/** On one line, as words of a sentence that begins before them. */
export function words(text: string): string {
  return visible(text).replace(/\s+/g, ' ').trim().replace(/[\\`*_[\]<>#|~&!]/g, '\\$&');
}
