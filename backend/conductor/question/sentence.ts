import type { Cue } from './cue.ts';
import type { FoundCue, Language } from './find-cues.ts';
import { NAME_PLACE } from './question-names.ts';

/*
 * A sentence by its clauses: which of its cues are meant, and which only stand in it. What they ask for together is read in read-question.ts.
 */

const MAX_SENTENCES = 120;
/** Letters of a language without spaces that count as one word. */
export const LETTERS_OF_A_WORD = 2.2;
/** Small talk is short. */
export const TALK_WORDS = 16;

const ASKING = ['explain', 'why', 'how', 'review'] as const satisfies readonly Cue[];
const DOING = ['add', 'write', 'fix', 'refactor', 'faster', 'document', 'setup'] as const satisfies readonly Cue[];
export type Asking = (typeof ASKING)[number];
/** Said of much: it counts only where nothing else is asked for. */
export type Weak = 'change' | 'should';
export type Doing = (typeof DOING)[number] | Weak;
export type Directive = Asking | Doing;
export const isAsking = (cue: Cue): cue is Asking => (ASKING as readonly Cue[]).includes(cue);
export const isWeak = (cue: Cue): cue is Weak => cue === 'change' || cue === 'should';
export const isDoing = (cue: Cue): cue is Doing => isWeak(cue) || (DOING as readonly Cue[]).includes(cue);

/** The sentences of a text; of a long one the first. */
export const sentencesOf = (prose: string, language: Language): Sentence[] =>
  prose.split(/(?<=[.!?])\s+|[。！？…\n]+|(?<=[!?])/u).map((part) => part.trim()).filter((part) => part !== '').slice(0, MAX_SENTENCES)
    .map((sentence) => new Sentence(sentence, language));

const ARTICLES = new Set('the a an this my our your his its each every some no of der die das den dem ein eine einen mein unser het een de'.split(' '));
/** First words of questions that begin with a verb or a question word: they ask only at the beginning of a clause. */
const OPENS_QUESTION = /^(?:how|what|where|is|are|does|do|did|can|could|should|who|when|which|would|has|was|were|wo|was|wie|welch\w*|gibt|ist|sind|kann)\b/;
/** A question that may be a request: "can we make it faster?" */
const MAY_REQUEST = /^(?:can|could) (?:we|this|it|i)$/;

/** Things that are written, in the order in which they count where two stand at one place. */
const OBJECTS: ReadonlySet<Cue> = new Set<Cue>(['prose', 'test', 'document', 'docs', 'build', 'artefact', 'function']);

export interface Clause {
  readonly directives: readonly Directive[];
  /** It begins with what is to be done; in "negative results turn into 0" the verb stands behind its subject. */
  readonly opensWithDirective: boolean;
  readonly has: ReadonlySet<Cue>;
  /** The first thing that it speaks of: "write tests" asks for tests, "write a function that tests" for a function. */
  readonly object: Cue | undefined;
  /** It asks for tests, maybe beside something else: "with tests", "and add a regression test". */
  readonly bringsTests: boolean;
}

/** Words from "with" or "add" to the test: "with a few more unit tests". */
const WORDS_TO_TEST = 4;

function bringsTests(found: readonly FoundCue[], { isUnspaced, isVerbFinal }: Language): boolean {
  if (found.some(({ cue }) => cue === 'not' || cue === 'keep')) return false;
  const tests = found.filter(({ cue }) => cue === 'test');
  return found.some(({ cue, at, length }) => (cue === 'with' || cue === 'add' || cue === 'write')
    && tests.some((test) => isUnspaced || isVerbFinal || (test.at >= at + length && test.at <= at + length + WORDS_TO_TEST - 1)));
}

/** The first thing after what is to be done, or the last one before it where verbs come last. */
function objectOf(found: readonly FoundCue[], meant: readonly FoundCue[], { isVerbFinal }: Language): Cue | undefined {
  const verb = (isVerbFinal ? meant.at(-1) : meant[0])?.at ?? 0;
  // "Add dumps() with tests" and "add dumps() without tests" ask for dumps().
  const isBeside = ({ cue, at }: FoundCue): boolean => cue === 'test' && !isVerbFinal && found.some((word) => (word.cue === 'with' || word.cue === 'not') && word.at > verb && word.at < at);
  const objects = found.filter((one) => OBJECTS.has(one.cue) && !isBeside(one));
  return (isVerbFinal ? objects.findLast(({ at }) => at < verb) : objects.find(({ at }) => at >= verb))?.cue ?? objects[0]?.cue;
}

/** How something is done, not what: "as the plan says". */
const MANNER = /\b(?:as|like|the way) (?:the|this|that|your|our|its|their) (?:[\w-]+ ){1,3}?(?:says?|describes?|shows?|defines?|requires?|suggests?|states?|specifies|demands?|asks?)\b/gi;

/** Words that may stand before the verb of a request: "now just". */
const OPENING_WORDS = 1;

/** A sentence by its clauses. */
export class Sentence {
  readonly text: string;
  readonly size: number;
  readonly isQuestion: boolean;
  /** It begins with a verb that asks for yes or no. */
  readonly opensAsQuestion: boolean;
  readonly clauses: readonly Clause[];
  /** The share of its words that are small talk. */
  readonly talk: number;

  constructor(text: string, language: Language) {
    this.text = text;
    this.size = language.size(text.replaceAll(NAME_PLACE, ' '));
    this.opensAsQuestion = /^(?:(?:does|did|is|are|was|were|has)\s|should (?:i|we|it|this|that|the|they)\b)/i.test(text);
    // People leave the mark out, but not the order of the words.
    this.isQuestion = this.opensAsQuestion || /^(?:can|could|will|would)\s/i.test(text) || /[?？؟]\s*$|(?:か|까|나요|니까|吗|呢|嗎)[。.\s]*$/u.test(text);
    const parts = text.split(language.isUnspaced ? /[，、,;；]\s*/u : /[,;:]\s+|\s[–—-]\s|[(){}[\]]/u).filter((part) => part.trim() !== '');
    this.clauses = parts.map((part) => this.#clause(part, language));
    this.talk = this.size <= TALK_WORDS * LETTERS_OF_A_WORD ? talkIn(text, language) : 0;
  }

  #clause(written: string, language: Language): Clause {
    const text = written.replace(MANNER, ' ');
    const found = outermost(language.find(text)).sort((a, b) => a.at - b.at || b.length - a.length);
    const words = language.isUnspaced ? [] : text.toLowerCase().match(/[\p{L}\p{N}\u0001'’-]+/gu) ?? [];
    const isMeant = ({ cue, at, length }: FoundCue): boolean => {
      if (!isAsking(cue) && !isDoing(cue)) return false;
      if (found.some((no) => no.cue === 'keep' && overlap(no, { at, length }))) return false;
      if (language.isUnspaced) return true;
      // "Which one is faster?"
      if (cue === 'faster' && found.some((ask) => ask.cue === 'ask' && ask.at <= 1 && ask.at < at)) return false;
      if (isDoing(cue) && ARTICLES.has(words[at - 1] ?? '')) return false;
      if (isDoing(cue) && found.some((no) => no.cue === 'not' && at >= no.at && at <= no.at + no.length + 1 && !(no.at === at && no.length === length))) return false;
      const phrase = words.slice(at, at + length).join(' ');
      if (cue === 'explain' && OPENS_QUESTION.test(phrase) && at > (this.isQuestion ? 3 : 1)) return false;
      if (cue === 'explain' && MAY_REQUEST.test(phrase) && found.some((next) => isDoing(next.cue) && !isWeak(next.cue) && next.at > at && next.at <= at + 5)) return false;
      return true;
    };
    const meant = found.filter(isMeant);
    const has = new Set(found.map(({ cue }) => cue));
    const directives = this.#directives(meant, found, language);
    return {
      directives: directives.map(({ cue }) => cue as Directive),
      // Only English puts the verb there for certain.
      opensWithDirective: language.name !== 'en' || (directives[0]?.at ?? 0) <= OPENING_WORDS || found.some(({ cue, at }) => cue === 'polite' && at < (directives[0]?.at ?? 0)),
      has,
      object: objectOf(found, meant, language),
      bringsTests: bringsTests(found, language),
    };
  }

  /** The first directive governs those after it ("explain how to add …"), except after "and". */
  #directives(meant: readonly FoundCue[], found: readonly FoundCue[], { isVerbFinal }: Language): FoundCue[] {
    if (isVerbFinal) {
      const asks = meant.find(({ cue }) => cue === 'how' || cue === 'why');
      const last = meant.at(-1);
      if (!last) return [];
      return this.isQuestion && asks ? [asks] : [last];
    }
    const strong = meant.filter(({ cue }) => !isWeak(cue));
    const [head] = strong.length > 0 ? strong : meant;
    if (!head) return [];
    const more = meant.filter(({ at, cue }) => at > head.at && cue !== head.cue && isDoing(cue)
      && found.some((and) => and.cue === 'and' && at > and.at && at <= and.at + and.length + (isWeak(cue) ? 0 : 1)));
    return [head, ...more];
  }
}

const overlap = (a: { at: number; length: number }, b: { at: number; length: number }): boolean => a.at < b.at + b.length && b.at < a.at + a.length;

/** Without what is part of a longer phrase: "what are you doing" of small talk holds a "what are". */
function outermost(found: readonly FoundCue[]): FoundCue[] {
  return found.filter((one) => !found.some((other) =>
    other !== one && other.length > one.length && other.cue !== one.cue && other.at <= one.at && other.at + other.length >= one.at + one.length && covers(other.cue, one.cue)));
}

const CONTENT: ReadonlySet<Cue> = new Set<Cue>(['fault', 'off', 'prose', 'slow', 'test', 'docs', 'build', 'security', 'artefact', 'line', 'function']);

/** A phrase about something leaves the directives in it alone, and the other way round. */
const covers = (outer: Cue, inner: Cue): boolean => outer !== 'and' && outer !== 'not' && !CONTENT.has(outer) && (CONTENT.has(inner) ? outer === 'talk' || outer === 'harmless' : outer !== 'harmless');

function talkIn(text: string, language: Language): number {
  const size = language.size(text.replaceAll(NAME_PLACE, ' '));
  if (size === 0) return text.includes(NAME_PLACE) ? 0 : 1;
  const covered = new Set<number>();
  for (const { cue, at, length } of language.find(text)) {
    if (cue === 'talk' || cue === 'polite') for (let index = at; index < at + length; index += 1) covered.add(index);
  }
  return Math.min(1, covered.size / size);
}
