/*
 * A cue is a word or phrase that says what a question is about: each language has a table of them, and what they mean together is decided
 * in one place for all languages (read-question.ts).
 */

/** What a cue asks for or speaks of. */
export const CUES = [
  // Asks for words.
  'explain', 'why', 'how', 'ask', 'review',
  // Asks for a change or for code.
  'add', 'write', 'change', 'should', 'fix', 'refactor', 'faster', 'document', 'setup',
  // Speaks of something; `off` may be a fault, where nothing else is asked for, and `line` is code of one line.
  'fault', 'off', 'prose', 'slow', 'test', 'docs', 'build', 'security', 'artefact', 'line', 'function',
  // Says how the rest is meant.
  'keep', 'not', 'and', 'with', 'polite', 'talk', 'harmless',
] as const;
export type Cue = (typeof CUES)[number];

export interface LanguageCues {
  /** Frequent small words, by which the language is recognised. */
  readonly marks: readonly string[];
  /** Words and phrases in lower case without accents, as `plain` writes them; `*` ends a word that may go on. */
  readonly cues: Readonly<Partial<Record<Cue, readonly string[]>>>;
  /** Written without spaces between words: cues are looked for anywhere. */
  readonly isUnspaced?: boolean;
  /** The verb that counts comes last. */
  readonly isVerbFinal?: boolean;
}

/** A table from text: entries separated by semicolons. */
export function languageCues(
  marks: string, cues: Readonly<Partial<Record<Cue, string>>>, form: Pick<LanguageCues, 'isUnspaced' | 'isVerbFinal'> = {},
): LanguageCues {
  const list = (text: string): string[] => text.split(';').map((entry) => plain(entry).trim()).filter((entry) => entry !== '');
  let lists: LanguageCues['cues'] | undefined;
  return {
    marks: plain(marks).split(/\s+/).filter(Boolean),
    // Of most languages nobody asks anything.
    get cues() { return (lists ??= Object.fromEntries(Object.entries(cues).map(([cue, text]) => [cue, list(text)])) as LanguageCues['cues']); },
    ...form,
  };
}

/** Lower case without accents, as many people type, so that one entry fits both. Hangul and kana stay as they are. */
export function plain(text: string): string {
  if (isAscii(text)) return text.toLowerCase().replaceAll('`', '\'');
  return text.normalize('NFKD').replace(/[\u0300-\u036f]/g, '').normalize('NFC').toLowerCase().replaceAll('\u0307', '')
    .replaceAll('ß', 'ss').replaceAll('ı', 'i').replaceAll('ł', 'l').replaceAll('ø', 'o').replaceAll('đ', 'd').replaceAll('æ', 'ae').replaceAll('œ', 'oe')
    .replace(/[’‘`´]/g, '\'');
}

/** Most questions are, and have nothing to fold. */
export const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);
