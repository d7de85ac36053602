import { backticks } from '../../common/backticks.ts';

/*
 * Foreign text in a Markdown document. It is shown literally and cannot act as headings, links, HTML or ends of blocks.
 */

/** Control characters and those that change the display order of text. */
const COMMANDS = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu;

function visible(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(COMMANDS, '\ufffd');
}

/** A fenced block that the text cannot end. `language` must be trusted. */
export function fenced(text: string, language = 'text'): string {
  const shown = visible(text);
  const fence = backticks(shown, 3);
  return `${fence}${language}\n${shown}${shown.endsWith('\n') ? '' : '\n'}${fence}`;
}

/** As code on one line. Not for tables: a `|` ends a cell even in code. */
export function code(text: string): string {
  const line = visible(text).replace(/\s+/g, ' ').trim() || ' ';
  const tick = backticks(line, 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${tick}${pad}${line}${pad}${tick}`;
}

/** As words on one line, within a sentence. */
export function words(text: string): string {
  return visible(text).replace(/\s+/g, ' ').trim().replace(/[\\`*_[\]<>#|~&!]/g, '\\$&');
}
