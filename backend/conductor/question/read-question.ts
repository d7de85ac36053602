import { RecentlyUsed } from '../../common/recently-used.ts';
import type { Cue } from './cue.ts';
import { languageOf, type Language } from './find-cues.ts';
import { NAME_PLACE, namesIn, type QuestionName } from './question-names.ts';
import { isAsking, isDoing, isWeak, LETTERS_OF_A_WORD, sentencesOf, TALK_WORDS, type Asking, type Clause, type Doing, type Sentence, type Weak } from './sentence.ts';

/*
 * Reads what a question asks for, without a model: the same text always reads the same. A table of words for each language says which cues
 * a sentence holds; what they mean together is decided here, for all languages. Where the cues do not tell, the question is `unclear`, and
 * plans for it take a form that fits every question.
 */

export type QuestionKind =
  | 'explain' | 'why' | 'how-to' | 'feature' | 'write' | 'bug' | 'refactor' | 'tests' | 'performance' | 'review' | 'documentation' | 'build'
  | 'small-talk' | 'unclear';

/** What has to come back: words, code that stands alone, a change of the project; `any` where the question does not tell. */
export type Wanted = 'words' | 'code' | 'change' | 'any';

export interface ReadQuestion {
  readonly kind: QuestionKind;
  readonly wants: Wanted;
  /** Something is said to be wrong. */
  readonly reportsFault: boolean;
  /**
   * It may report one: people tell what happens ("args with spaces are split", "the header is written twice") and leave it to the reader that this
   * is wrong. False only where it asks for something else first and says of nothing that it is off.
   */
  readonly mayReportFault: boolean;
  /** A change is wanted with tests of its own, or nothing but tests. */
  readonly wantsTests: boolean;
  /** What the question itself names, in its order; at most 24, each at most 120 characters. */
  readonly names: readonly QuestionName[];
  /** It says so itself, with an instruction or a question word; otherwise its subject tells. */
  readonly isSaid: boolean;
  /** The most steps that the question is worth. */
  readonly steps: number;
  /** Two letters, such as `en`; the language that most of its words are from. */
  readonly language: string;
  /** The words of the question that say what it wants, on one line, clipped: for a question that names nothing. */
  readonly gist: string;
}

/** Longer questions are read at both ends: what is asked stands there, and logs stand between. */
const READ_CHARACTERS = 12_000;
const GIST_CHARACTERS = 160;
/** The share of small talk's words that are found in its table. */
const TALK_SHARE = 0.7;

export interface ReadOptions {
  /** There is a project whose code may be changed: whoever asks why it gives a wrong result wants it mended, too. */
  readonly inProject?: boolean;
}

/** A run reads its question, and the instructions of its plan, at several places. */
const readings = new RecentlyUsed<ReadQuestion>(64);

export function readQuestion(question: string, { inProject = false }: ReadOptions = {}): ReadQuestion {
  const key = `${inProject ? 'in project' : ''}\n${question}`;
  const known = readings.get(key);
  if (known) return known;
  const reading = read(question, inProject);
  readings.set(key, reading);
  return reading;
}

function read(question: string, inProject: boolean): ReadQuestion {
  const { names, prose } = namesIn(withoutCode(bothEnds(question)));
  const language = languageOf(prose);
  const sentences = sentencesOf(prose, language);
  const asked = kindOf(sentences, names, language);
  const reading = inProject && (asksWhyWrong(asked, sentences) || endsReport(asked, sentences)) ? { ...asked, kind: 'bug' as const, wants: 'any' as const, reportsFault: true } : asked;
  const size = sentences.reduce((sum, sentence) => sum + sentence.size, 0);
  const wantsTests = reading.kind === 'tests' || (reading.wants === 'change' && sentences.some(({ clauses }) => clauses.some((clause) => clause.bringsTests)));
  return { ...reading, mayReportFault: mayReportFault(reading, sentences), wantsTests, names, language: language.name, steps: stepsFor(reading, { size, language, names: names.length, isLine: sentences.some(({ clauses }) => clauses.some(({ has }) => has.has('line'))) }), gist: gistOf(question, sentences) };
}

function bothEnds(text: string): string {
  if (text.length <= READ_CHARACTERS) return text;
  const head = Math.ceil(READ_CHARACTERS * 0.75);
  return `${text.slice(0, head)}\n${text.slice(text.length - (READ_CHARACTERS - head))}`;
}

/** Without what stands in fences: it is shown, not said. Its first line may be an error that was pasted. */
function withoutCode(text: string): string {
  return text.replace(/^[ \t]*(`{3,}|~{3,})[^\n]*\n([^]*?)(?:^[ \t]*\1[`~]*[ \t]*$|$(?![^]))/gm, (_whole, _fence, inside: string) => {
    const error = /^.{0,200}(?:Error|Exception|panic|error:|FAILED|Traceback).{0,200}$/m.exec(inside)?.[0];
    return error === undefined ? `\n${NAME_PLACE}\n` : `\n${error}\n`;
  });
}

type Reading = Pick<ReadQuestion, 'kind' | 'wants' | 'reportsFault'>;
type SaidReading = Reading & Pick<ReadQuestion, 'isSaid'>;

function kindOf(sentences: readonly Sentence[], names: readonly QuestionName[], language: Language): SaidReading {
  const clauses = sentences.flatMap((sentence) => sentence.clauses.map((clause) => ({ clause, sentence })));
  const has = (cue: Cue): boolean => clauses.some(({ clause }) => clause.has.has(cue));
  const directives = clauses.flatMap(({ clause, sentence }) => clause.directives.map((cue) => ({ cue, clause, sentence })));
  const isPasted = names.some(({ kind, text }) => kind === 'error' && text.length > 12);
  const hasFault = has('fault') || isPasted;
  const isOff = hasFault || has('off');

  const size = sentences.reduce((sum, sentence) => sum + sentence.size, 0);
  const talk = sentences.reduce((sum, sentence) => sum + sentence.talk * sentence.size, 0) / Math.max(1, size);
  const isTalk = size === 0 ? names.length === 0 : size <= TALK_WORDS * (language.isUnspaced ? LETTERS_OF_A_WORD : 1) && talk >= TALK_SHARE && !isPasted && directives.every(({ sentence }) => sentence.talk === 1);
  if (isTalk) return { kind: 'small-talk', wants: 'words', reportsFault: false, isSaid: true };
  const said = (reading: Reading): SaidReading => ({ ...reading, isSaid: true });

  const asked = directives.find(({ cue }) => isAsking(cue));
  const doing = directives.filter(({ cue }) => isDoing(cue) && !isWeak(cue));
  const mends = doing.find(({ cue }) => cue === 'fix');
  const strong = doing.find(({ clause }) => clause.opensWithDirective) ?? mends ?? doing[0];
  const weak = directives.find(({ cue, sentence }) => isWeak(cue) && !sentence.opensAsQuestion);
  if (has('keep') && !strong) {
    const kind = asked ? askedKind(asked.cue as Asking, asked.clause) : hasFault ? 'why' : 'explain';
    return said({ kind, wants: 'words', reportsFault: hasFault && kind === 'why' });
  }
  const isArtefact = asked?.cue === 'how' && asked.clause.has.has('write') && (asked.clause.has.has('artefact') || names.some(({ kind }) => kind === 'symbol'));
  // "Bash script: list all …" is headed by what is wanted.
  const isHeaded = clauses[0]?.clause.directives.length === 0 && clauses[0].clause.object === 'artefact' && !clauses[0].sentence.isQuestion && !hasFault && !has('security');
  if (isArtefact || (isHeaded && (!strong || strong.cue !== 'fix') && asked?.clause !== clauses[0]?.clause)) return said({ kind: 'write', wants: 'code', reportsFault: false });
  if (strong) {
    const reading = doneReading(strong.cue as Doing, strong.clause, { names, hasFault, has });
    return said({ ...reading, reportsFault: reading.reportsFault || (mends !== undefined && reading.kind !== 'documentation') });
  }
  if (asked) {
    const kind = askedKind(asked.cue as Asking, asked.clause);
    return said({ kind, wants: 'words', reportsFault: hasFault && kind !== 'review' && kind !== 'explain' });
  }
  const question = sentences.find((sentence) => sentence.isQuestion && sentence.clauses.some((clause) => clause.has.has('ask')));
  if (question) return said({ kind: 'explain', wants: 'words', reportsFault: false });
  if (weak) return { ...doneReading(weak.cue as Weak, weak.clause, { names, hasFault: weak.cue === 'should' ? isOff : hasFault || isTold(sentences, weak.sentence), has }), isSaid: weak.cue === 'change' };
  return { ...spokenOf(has, { hasFault, isOff }, sentences, names), isSaid: false };
}

/** "Why isn't it async?" asks for the reason of a choice. */
const WHY_NOT = /\bwhy\s+(?:\w+n['’]?t\b|(?:is|are|do|does|did|can|could|should|would)\s+(?:\S+\s+){1,3}not\b)/i;

/** Whether it asks for the reason of a result that it calls wrong: "why does merge() lose the outer interval?" */
const asksWhyWrong = ({ kind, reportsFault }: Reading, sentences: readonly Sentence[]): boolean =>
  kind === 'why' && !sentences.some(({ clauses }) => clauses.some(({ has }) => has.has('keep')))
  && (reportsFault || (sentences.some(({ clauses }) => clauses.some(({ has }) => has.has('off'))) && !sentences.some(({ text }) => WHY_NOT.test(text))));

/** Of a question such as "Is this expected?", "Is that a bug?" or "Any ideas?", at the end of a report. */
const SHORT_QUESTION_WORDS = 6;
const ASKS_FOR_MORE = /^(?:what|how|where|which|who|when)\b/i;

/** Whether a short question ends what tells of a fault: whoever reports one wants it mended, or told why it is none. */
function endsReport({ wants, kind }: Reading, sentences: readonly Sentence[]): boolean {
  const last = sentences.at(-1);
  if (wants !== 'words' || kind === 'why' || !last?.isQuestion || last.size > SHORT_QUESTION_WORDS || ASKS_FOR_MORE.test(last.text) || last.text.includes(NAME_PLACE)) return false;
  const told = sentences.slice(0, -1);
  return told.every((sentence) => !sentence.isQuestion && sentence.clauses.every(({ has, directives }) => !has.has('keep') && !directives.some(isAsking)))
    && told.length > 0 && sentences.some(({ clauses }) => clauses.some(({ has }) => has.has('off') || has.has('fault')));
}

/** What is off was told before what is to be done about it: "It counts twice. Make it count once." */
const isTold = (sentences: readonly Sentence[], until: Sentence): boolean =>
  sentences.slice(0, sentences.indexOf(until)).some(({ clauses }) => clauses.every(({ directives }) => directives.length === 0) && clauses.some(({ has }) => has.has('off')));

function mayReportFault({ reportsFault, isSaid }: SaidReading, sentences: readonly Sentence[]): boolean {
  const clauses = sentences.flatMap((sentence) => sentence.clauses);
  return reportsFault || !isSaid || clauses.some(({ has }) => has.has('off') || has.has('fault')) || !clauses.find(({ directives }) => directives.length > 0)?.opensWithDirective;
}

function askedKind(cue: Asking, clause: Clause): QuestionKind {
  switch (cue) {
    case 'why': return 'why';
    case 'review': return 'review';
    case 'how': return clause.has.has('setup') || clause.has.has('build') ? 'build' : 'how-to';
    case 'explain': return clause.has.has('security') ? 'review' : 'explain';
  }
}

interface Around {
  readonly names: readonly QuestionName[];
  readonly hasFault: boolean;
  readonly has: (cue: Cue) => boolean;
}

const isDocument = ({ kind, text }: QuestionName): boolean => kind === 'path' && /(?:^|\/)(?:readme|changelog|contributing)\b|\.(?:mdx?|rst)$/i.test(text);
const isBuildFile = ({ kind, text }: QuestionName): boolean =>
  kind === 'path' && /dockerfile|docker-compose|makefile|jenkinsfile|\.github|gitlab-ci|tsconfig|eslint|package\.json|pyproject|cargo\.toml|cmakelists|webpack|vite\.config/i.test(text);

/** The kind of a question that wants something done. */
function doneReading(cue: Doing, clause: Clause, { names, hasFault, has }: Around): Reading {
  const change = (kind: QuestionKind, reportsFault = false): Reading => ({ kind, wants: 'change', reportsFault });
  const hasPath = names.some(({ kind }) => kind === 'path');
  switch (cue) {
    case 'faster': return change('performance');
    case 'refactor': return change('refactor');
    case 'document': return change('documentation');
    case 'setup': return change('build', hasFault);
    case 'fix':
      if ((clause.has.has('docs') || names.some(isDocument)) && !clause.has.has('test')) return change('documentation');
      if (clause.has.has('slow')) return change('performance', true);
      if (clause.has.has('refactor')) return change('refactor');
      return change(clause.has.has('build') && !clause.has.has('test') && !has('function') ? 'build' : 'bug', true);
    case 'add': case 'write': case 'change': case 'should': {
      if (clause.has.has('faster') || (isWeak(cue) && has('slow'))) return change('performance');
      if (clause.object === 'prose' && cue === 'write') return { kind: 'explain', wants: 'words', reportsFault: false };
      if (clause.object === 'test') return isWeak(cue) && clause.has.has('fault') ? change('bug', true) : change('tests');
      if (clause.object === 'docs' || clause.object === 'document' || (!clause.object && names.some(isDocument))) return change('documentation');
      if (clause.has.has('refactor') && isWeak(cue)) return change('refactor');
      if (!isWeak(cue) && (clause.object === 'build' || (!clause.object && names.some(isBuildFile)))) return change('build');
      if (clause.has.has('artefact') && !hasPath && cue !== 'add') return { kind: 'write', wants: 'code', reportsFault: false };
      if (cue === 'write' && !hasPath) return { kind: 'write', wants: 'code', reportsFault: false };
      if (isWeak(cue) && hasFault) return change('bug', true);
      return change('feature');
    }
  }
}

/** The kind of a question that only names its subject: "parseArgs slow", "regex for dates". */
function spokenOf(has: (cue: Cue) => boolean, { hasFault, isOff }: { hasFault: boolean; isOff: boolean }, sentences: readonly Sentence[], names: readonly QuestionName[]): Reading {
  const isQuestion = sentences.some((sentence) => sentence.isQuestion);
  if (isQuestion && !isOff) return { kind: has('security') ? 'review' : 'explain', wants: 'words', reportsFault: false };
  if (has('artefact') && !hasFault && !names.some(({ kind }) => kind === 'path')) return { kind: 'write', wants: 'code', reportsFault: false };
  if (has('slow')) return { kind: 'performance', wants: 'change', reportsFault: true };
  if (has('docs') && !has('build')) return { kind: 'documentation', wants: 'change', reportsFault: false };
  if (!hasFault && has('test')) return { kind: 'tests', wants: 'change', reportsFault: false };
  if (isOff) return { kind: has('build') && !has('function') ? 'build' : 'bug', wants: isQuestion ? 'any' : 'change', reportsFault: true };
  if (has('docs')) return { kind: 'documentation', wants: 'change', reportsFault: false };
  if (has('security')) return { kind: 'review', wants: 'words', reportsFault: false };
  if (has('build')) return { kind: 'build', wants: 'any', reportsFault: false };
  return { kind: 'unclear', wants: 'any', reportsFault: false };
}

/** The most steps that a question of a kind is worth. The paper allows five (arXiv 2512.04388 §3.1). */
const MOST_STEPS: Readonly<Record<QuestionKind, number>> = {
  'explain': 2, 'why': 2, 'how-to': 2, 'feature': 5, 'write': 5, 'bug': 5, 'refactor': 4, 'tests': 4, 'performance': 4, 'review': 3, 'documentation': 3, 'build': 3,
  'small-talk': 1, 'unclear': 2,
};
/** The length of a question, in words, up to which one step is enough for an answer in words. */
const SHORT_WORDS = 16;
/** And up to which code from nothing is small. */
const SHORT_CODE_WORDS = 16;
/** And up to which a text that names nothing and asks nothing, such as "no, the other one", is too little for two. */
const SHORT_REMARK_WORDS = 8;

function stepsFor({ kind, wants }: Reading, { size, language, names, isLine }: { size: number; language: Language; names: number; isLine: boolean }): number {
  const words = (language.isUnspaced ? size / LETTERS_OF_A_WORD : size) + names;
  if (wants === 'words' && words <= SHORT_WORDS) return 1;
  if (kind === 'unclear' && names === 0 && words <= SHORT_REMARK_WORDS) return 1;
  if (kind === 'write' && words <= SHORT_CODE_WORDS) return isLine ? 1 : 2;
  return MOST_STEPS[kind];
}

/** The question on one line; of a long one its first sentence and the one that asks. */
function gistOf(question: string, sentences: readonly Sentence[]): string {
  const line = (text: string): string => text.replaceAll(NAME_PLACE, '…').replace(/\s+/g, ' ').trim();
  const whole = line(question.slice(0, 4 * GIST_CHARACTERS));
  if (whole.length <= GIST_CHARACTERS) return whole;
  const first = line(sentences.find(({ size }) => size > 0)?.text ?? whole);
  const asks = line(sentences.find((sentence) => sentence.clauses.some(({ directives }) => directives.length > 0))?.text ?? first);
  const said = first === asks ? first : `${first} ${asks}`;
  return [said, asks].find(({ length }) => length <= GIST_CHARACTERS) ?? `${asks.slice(0, GIST_CHARACTERS - 1).replace(/\s\S*$/, '')}…`;
}
