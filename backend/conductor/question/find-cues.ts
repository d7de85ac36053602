import { CUES, isAscii, plain, type Cue, type LanguageCues } from './cue.ts';
import { CHINESE, JAPANESE, KOREAN } from './cues/east-asian.ts';
import { DUTCH } from './cues/dutch.ts';
import { ENGLISH } from './cues/english.ts';
import { GERMAN } from './cues/german.ts';
import { FRENCH, ITALIAN, PORTUGUESE, SPANISH } from './cues/romance.ts';
import { POLISH, RUSSIAN } from './cues/slavic.ts';
import { TURKISH } from './cues/turkish.ts';
import { PhraseIndex } from './phrase-index.ts';
import { NAME_PLACE } from './question-names.ts';

/*
 * Finds the cues of a sentence: in the language of the question and, since programmers mix the two, in English.
 */

export interface FoundCue {
  readonly cue: Cue;
  /** Position among the words of the sentence, or among its characters where words have no spaces. */
  readonly at: number;
  readonly length: number;
}

export interface Language {
  readonly name: string;
  readonly isVerbFinal: boolean;
  readonly isUnspaced: boolean;
  readonly find: (sentence: string) => FoundCue[];
  /** Words, or characters of an unspaced language. */
  readonly size: (sentence: string) => number;
}

const SPACED = {
  en: ENGLISH, de: GERMAN, fr: FRENCH, es: SPANISH, pt: PORTUGUESE, it: ITALIAN, nl: DUTCH, pl: POLISH, ru: RUSSIAN, tr: TURKISH,
} as const satisfies Record<string, LanguageCues>;
const UNSPACED = { zh: CHINESE, ja: JAPANESE, ko: KOREAN } as const satisfies Record<string, LanguageCues>;

/** Of a sentence; a longer one is no sentence. */
const MAX_WORDS = 200;
const MAX_FOUND = 200;

const WORD = /[\p{L}\p{N}\u0001]+(?:['’+#-][\p{L}\p{N}]+)*/gu;

const wordsOf = (text: string): string[] => [...plain(text).matchAll(WORD)].map(([word]) => word);

/** The lengths of words that are compared with misspelt cues. */
const SHORTEST_MISSPELT = 5;
const LONGEST_MISSPELT = 20;

/** The phrases of a language. */
class Phrases {
  readonly #index = new PhraseIndex<Cue>();
  /** Single words, whole or stems. */
  readonly #single = new Map<string, readonly Cue[]>();
  /** The same by what is left of them without one inner letter: the first in the order of the letter's place, then of the letter. */
  #lackingOne: ReadonlyMap<string, string> | undefined;

  constructor({ cues }: LanguageCues) {
    for (const cue of CUES) {
      for (const phrase of cues[cue] ?? []) {
        const [first = '', ...others] = this.#index.add(phrase, cue);
        const word = first.replace(/\*$/, '');
        if (others.length === 0) this.#single.set(word, [...(this.#single.get(word) ?? []), cue]);
      }
    }
  }

  /** For each cue the longest phrase that begins at a word. */
  at(words: readonly string[], at: number): FoundCue[] {
    const longest = new Map<Cue, number>();
    this.#index.longer(words, at, (cue) => longest.get(cue) ?? 0, (phrase) => longest.set(phrase.of, phrase.words.length));
    return [...longest].map(([cue, length]) => ({ cue, at, length }));
  }

  /**
   * The cues of a misspelt word: two neighbouring letters in the wrong order, one letter too many or one too few, and the first and the
   * last one right. Another letter in a word's place makes another word too often ("texts", "master").
   */
  misspelt(word: string): readonly Cue[] {
    if (word.length < SHORTEST_MISSPELT || word.length > LONGEST_MISSPELT || !/^[a-z]+$/.test(word)) return [];
    for (let index = 1; index < word.length - 1; index += 1) {
      const cues = this.#single.get(word.slice(0, index) + word[index + 1] + word[index] + word.slice(index + 2));
      if (cues) return cues;
    }
    for (let index = 1; index < word.length - 1; index += 1) {
      const cues = this.#single.get(word.slice(0, index) + word.slice(index + 1));
      if (cues) return cues;
    }
    this.#lackingOne ??= lackingOne(this.#single.keys());
    return this.#single.get(this.#lackingOne.get(word) ?? '') ?? [];
  }
}

/** Words by what is left of them without one inner letter; of two, the one whose letter stands first, then the first of the alphabet. */
function lackingOne(words: Iterable<string>): ReadonlyMap<string, string> {
  const found = new Map<string, { readonly word: string; readonly at: number; readonly letter: string }>();
  for (const word of words) {
    for (let at = 1; at < word.length - 1; at += 1) {
      const letter = word[at] as string;
      if (!/[a-z]/.test(letter)) continue;
      const left = word.slice(0, at) + word.slice(at + 1);
      const known = found.get(left);
      if (!known || at < known.at || (at === known.at && letter < known.letter)) found.set(left, { word, at, letter });
    }
  }
  return new Map([...found].map(([left, { word }]) => [left, word]));
}

type SpacedName = keyof typeof SPACED;
const SPACED_NAMES = Object.keys(SPACED) as SpacedName[];
/** For each language something, made when it is first asked for. */
function forEachSpaced<T>(make: (cues: LanguageCues) => T): (name: SpacedName) => T {
  const made = new Map<SpacedName, T>();
  return (name) => {
    const known = made.get(name) ?? make(SPACED[name]);
    made.set(name, known);
    return known;
  };
}
const phrasesOf = forEachSpaced((cues) => new Phrases(cues));
const marksOf = forEachSpaced<ReadonlySet<string>>(({ marks }) => new Set(marks));

function spaced(name: SpacedName): Language {
  const own = phrasesOf(name);
  const marks = marksOf(name);
  const tables = name === 'en' ? [own] : [own, phrasesOf('en')];
  const isSmall = (word: string): boolean => marks.has(word) || (name !== 'en' && marksOf('en').has(word));
  return {
    name,
    isUnspaced: false,
    isVerbFinal: 'isVerbFinal' in SPACED[name],
    size: (sentence) => wordsOf(sentence).length,
    find: (sentence) => {
      const words = wordsOf(sentence).slice(0, MAX_WORDS);
      return words.flatMap((word, at) => {
        if (word === NAME_PLACE) return [];
        const found = own.at(words, at);
        // A word of the question's language is not read as an English one: French "comment" asks how.
        if (found.length > 0 || (tables.length > 1 && marks.has(word))) return found;
        for (const table of tables.slice(1)) {
          const foreign = table.at(words, at).filter(({ cue, length }) => length > 1 || (cue !== 'talk' && cue !== 'not' && cue !== 'and'));
          if (foreign.length > 0) return foreign;
        }
        if (isSmall(word)) return [];
        for (const table of tables) {
          const cues = table.misspelt(word).filter((cue) => cue !== 'talk' || word.length >= 5);
          if (cues.length > 0) return cues.map((cue) => ({ cue, at, length: 1 }));
        }
        return [];
      });
    },
  };
}

function unspaced(name: keyof typeof UNSPACED): Language {
  const { cues } = UNSPACED[name];
  const english = phrasesOf('en');
  const isVerbFinal = 'isVerbFinal' in UNSPACED[name];
  return {
    name,
    isVerbFinal,
    isUnspaced: true,
    size: (sentence) => [...plain(sentence).matchAll(/[\p{L}\p{N}]/gu)].length,
    find: (sentence) => {
      const text = plain(sentence);
      const found: FoundCue[] = [];
      for (const cue of CUES) {
        for (const phrase of cues[cue] ?? []) {
          for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
            if (/^[a-z]/.test(phrase) && /[a-z]/.test(text[at - 1] ?? '')) continue;
            found.push({ cue, at, length: phrase.length });
            if (found.length >= MAX_FOUND) return found;
          }
        }
      }
      // English words among the others.
      let from = 0;
      for (const word of (text.match(/[a-z][a-z-]{2,}/g) ?? []).slice(0, MAX_WORDS)) {
        const at = text.indexOf(word, from);
        from = at + word.length;
        for (const { cue } of english.at([word], 0)) {
          if (cue !== 'talk' && cue !== 'not' && cue !== 'and') found.push({ cue, at, length: word.length });
        }
      }
      return found;
    },
  };
}

const LETTERS = {
  ja: /[\p{sc=Hiragana}\p{sc=Katakana}]/gu, ko: /\p{sc=Hangul}/gu, zh: /\p{sc=Han}/gu, ru: /\p{sc=Cyrillic}/gu,
} as const;

/** The language of a text: by its letters, then by its small words. English where nothing tells. */
export function languageOf(text: string): Language {
  for (const [name, letters] of isAscii(text) ? [] : Object.entries(LETTERS)) {
    const enough = name === 'ru' ? 3 : 2;
    if ((text.match(letters)?.length ?? 0) >= enough) return name === 'ru' ? spaced(name) : unspaced(name as keyof typeof UNSPACED);
  }
  return spaced(spacedLanguageOf(wordsOf(text).slice(0, 400)));
}

/** The small words of each language, and the phrases of all: one search tells what a word says of each. */
interface Telling {
  readonly marks: ReadonlyMap<string, readonly number[]>;
  readonly phrases: PhraseIndex<number>;
}
let telling: Telling | undefined;

function makeTelling(): Telling {
  const marks = new Map<string, number[]>();
  const phrases = new PhraseIndex<number>();
  for (const [language, name] of SPACED_NAMES.entries()) {
    for (const mark of marksOf(name)) marks.set(mark, [...(marks.get(mark) ?? []), language]);
    for (const cues of Object.values(SPACED[name].cues)) for (const phrase of cues) phrases.add(phrase, language);
  }
  return { marks, phrases };
}

/** The language with the most points. Its cues count beside its small words, since a question may have hardly one of these. */
function spacedLanguageOf(words: readonly string[]): SpacedName {
  const { marks, phrases } = (telling ??= makeTelling());
  const points = new Float64Array(SPACED_NAMES.length);
  const longest = new Uint8Array(SPACED_NAMES.length);
  for (const [at, word] of words.entries()) {
    for (const language of marks.get(word) ?? []) points[language] = (points[language] ?? 0) + 1;
    if (word === NAME_PLACE || word.length <= 2) continue;
    // Most words say nothing of any language.
    let says = false;
    phrases.longer(words, at, (language) => longest[language] ?? 0, (phrase) => {
      longest[phrase.of] = phrase.words.length;
      says = true;
    });
    if (!says) continue;
    for (const [language, length] of longest.entries()) points[language] = (points[language] ?? 0) + Math.min(1.5, 0.75 * length);
    longest.fill(0);
  }
  return SPACED_NAMES[points.indexOf(Math.max(...points))] as SpacedName;
}
