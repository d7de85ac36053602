import { stripVTControlCharacters } from 'node:util';

/** What a terminal is told beside its text, such as its title: up to a bell or the sequence that ends it. */
const COMMAND = /\u001B\][^\u0007\u001B\u009C]*(?:\u0007|\u001B\\|\u009C)/g;

/**
 * The text without colours and other sequences for terminals. For each command without an end, Node's own function looks for one as far as the text
 * goes. So those are taken out before it.
 */
export function withoutControls(text: string): string {
  return stripVTControlCharacters(text.replace(COMMAND, '').replace(/\u001B+\]?/g, (escapes) => (escapes.endsWith(']') ? ']' : escapes)));
}
