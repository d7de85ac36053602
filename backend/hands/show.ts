import { redactText } from '../common/secrets/secrets.ts';

/** Characters of one result that a worker is shown. */
const MAX_CHARACTERS = 12_000;

/** Keeps the beginning and the end: both tell more than the middle. */
export function clipMiddle(text: string, most = MAX_CHARACTERS): string {
  if (text.length <= most) return text;
  const head = text.slice(0, Math.ceil(most / 2));
  const tail = text.slice(text.length - Math.floor(most / 2));
  return `${head}\n[… ${(text.length - most).toLocaleString('en')} characters left out …]\n${tail}`;
}

/** A text of the copy or of a command as a worker may see it: without lines that look like a secret, and bounded. */
export function shown(text: string, most = MAX_CHARACTERS): string {
  // What is far too long is cut first, because looking for secrets reads every line.
  return clipMiddle(redactText(clipMiddle(text, 8 * most).replaceAll('\0', '�')), most);
}
