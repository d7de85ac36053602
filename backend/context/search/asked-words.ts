import type { Term } from '../terms.ts';
import { IDENTIFIER, stem, wordsOf } from './words.ts';

/* What a request is about: its words, how much each says, and how it was written. */

export type AskedWords = ReadonlyMap<string, { readonly weight: number; readonly as: string }>;

const WHOLE_NAME = 2.2;
const PART = 0.9;
const PLAIN = 1;
/** The first line of a message says what it is about. */
const AFTER_FIRST_LINE = 0.5;
const MAX_SCANNED = 20_000;
const MAX_WORDS = 120;

/** @returns at most 120 words, those of the question first */
export function askedWords(question: string, identifiers: readonly Term[]): AskedWords {
  const words = new Map<string, { weight: number; as: string }>();
  const put = (word: string, weight: number, as: string): void => {
    if ((words.get(word)?.weight ?? 0) < weight) words.set(word, { weight, as });
  };
  const putName = (name: string, { isCode, factor }: { isCode: boolean; factor: number }): void => {
    const [whole, ...parts] = wordsOf(name);
    if (whole === undefined || (!isCode && parts.length === 0 && isCommon(name.toLowerCase(), whole))) return;
    put(whole, factor * (isCode || parts.length > 0 ? WHOLE_NAME : PLAIN), name);
    for (const part of parts) if (!isCommon(part, part)) put(part, factor * PART, part);
  };
  const text = spaced(question.slice(0, MAX_SCANNED).replace(/https?:\/\/\S+|(?:[\w.-]+\/[\w.-]+)?#\d+\b/g, ' '));
  const firstLine = text.split('\n', 1)[0]?.length ?? 0;
  for (const match of text.matchAll(IDENTIFIER)) {
    const [name] = match;
    putName(name, { isCode: isQuoted(text, match.index, name.length), factor: match.index <= firstLine ? 1 : AFTER_FIRST_LINE });
  }
  const most = Math.max(1, ...identifiers.map(({ weight }) => weight));
  for (const { text: name, weight } of identifiers) putName(name, { isCode: true, factor: weight / most });
  return new Map([...words].slice(0, MAX_WORDS));
}

/** Separates letters of scripts that write no spaces from others: `函数parse_float` names parse_float. */
function spaced(text: string): string {
  return text.replace(SCRIPT_CHANGES, ' ');
}

const UNSPACED = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}]';
const SCRIPT_CHANGES = new RegExp(`(?<=${UNSPACED})(?=[\\w$])|(?<=[\\w$])(?=${UNSPACED})`, 'gu');

function isQuoted(text: string, index: number, length: number): boolean {
  return /[`'"‘“.]/.test(text[index - 1] ?? '') && /[`'"’”.(]/.test(text[index + length] ?? '') || text[index + length] === '(';
}

function isCommon(word: string, stemmed: string): boolean {
  return word.length < 3 || COMMON.has(word) || COMMON.has(stemmed);
}

/** Words of questions in general: they say nothing about which code is meant. */
const COMMON: ReadonlySet<string> = new Set(`
  about above actually added adds add adding after again all allow allows also always an and another answer any anything are aren as at
  avoid be because been before being below best better between both break breaks broken bug bugs bugfix but by call called can cannot
  cause caused causes change changed changes check close closed closes code correct correctly could crash crashes currently did didn do
  does doesn doing don done down due each easy either else ensure even every example expected explain fail failing failed fails few file
  files find first fix fixed fixes fixing following for found from function functions gave get getting give given gives go goes good
  handle handled handles handling happen happens has hasn have having help here how however if implement implemented implements in
  incorrect incorrectly inside instead into is isn issue issues it its just keep kept know last like look looks made make makes making
  many may maybe me mean method might missing more most much must my need needed needs never new no not nothing now of off on once one
  only onto or other otherwise our out over part patch please possible prevent prevents previously problem project properly provide
  really refactor regression remove removed resolve resolved resolves return returned returning returns right same see seem seems
  shall should show simple since so some someone something still such support supported sure take than that the their them then there
  these they thing things think this those through time to too turn two under unexpected until up update updated use used user uses
  using very via want was wasn we were what when where whether which while who why will with without work working works would write
  writes wrong you your
  chore feat feature perf revert merge
  aber alle als also auch auf aus bei bitte dann das dass dem den der des die dies diese dieser doch durch ein eine einem einen einer
  es fehler für gibt hat ich ihr immer ist kann kein keine man mein mit muss nach nicht noch nur oder ohne sich sie sind soll über und
  uns von warum war was wenn wenn werden wie wieso wird wir wo zu zum zur zwischen
  avec aux cette comme dans des donc elle est les leur mais mon nous par pas plus pour pourquoi quand que quel quelle qui sans ses
  son sont sur une vous
  como con cuando del donde esta este esto las los más para pero por porque que qué según ser sin sobre son una uno
  come con della delle dello degli dei nel nella non per perché quando questo sono una
  ao com da das dos em na nas nos não para pelo porque quando uma
`.split(/\s+/).flatMap((word) => [word, stem(word)]));
