import { FAMILIES } from './families/all-families.ts';
import { sourceWith, type Family, type Variant } from './families/family.ts';
import type { View } from './view.ts';

/** The part of a sample module that a worker sees. */
export interface SeenModule {
  readonly family: Family;
  /** The bugs in the visible code; undefined if too little is visible. */
  readonly faults: readonly Variant[] | undefined;
  /** Visible share of the module's lines, 0 to 1. */
  readonly sight: number;
}

/** The visible share needed to recognise a module's bugs. */
const ENOUGH_SIGHT = 0.6;

/** The module that the question is about; undefined if no sample module is visible. */
export function recogniseModule(view: View): SeenModule | undefined {
  const context = `${view.context}\n${view.question}`;
  const lines = linesOf(context);
  const inView = new Set(lines);
  const text = lines.join('\n');
  const named = new Set(view.question.match(/\w+/g));
  const candidates = FAMILIES.map((family) => {
    const seen = seenModule(family, text, inView);
    const isKnown =
      seen.sight >= ENOUGH_SIGHT ||
      context.includes(family.path) ||
      family.exports.some((name) => isDistinct(name) && named.has(name));
    const weight =
      (family.exports.some((name) => named.has(name)) ? 10 : 0) +
      (view.question.includes(family.path) ? 10 : 0) +
      (view.feedback.includes(family.testPath) || view.subtask.includes(family.path) ? 4 : 0) +
      (seen.faults?.length ? 2 : 0) +
      seen.sight;
    return { seen, weight: isKnown ? weight : 0 };
  });
  const best = candidates.reduce((a, b) => (b.weight > a.weight ? b : a));
  return best.weight > 0 ? best.seen : undefined;
}

/** Characters of a text that belong to the module or to its tests. */
export function charactersOfModule(family: Family, text: string): number {
  const own = OWN_LINES.get(family);
  return linesOf(text).reduce((sum, line) => sum + (own?.has(line) ? line.length + 1 : 0), 0);
}

/** The bugs of a file in an answer; undefined if it is no known form of the module. */
export interface SeenFile {
  readonly source: string;
  readonly faults: readonly Variant[] | undefined;
}

/** The module's file in an answer; the last one if there are several. */
export function moduleFileIn(family: Family, answer: string): SeenFile | undefined {
  const blocks = [...answer.matchAll(/^(`{3,})([^\n`]*)\n([\s\S]*?)^\1[ \t]*$/gm)];
  const block = blocks.filter(([, , info = '']) => info.includes(family.path)).at(-1);
  if (!block) return undefined;
  const source = block[3] ?? '';
  const wanted = linesOf(source).join('\n');
  return { source, faults: formsOf(family).find((form) => form.text === wanted)?.faults };
}

/** Whether a name is distinguishable from an ordinary word. */
function isDistinct(name: string): boolean {
  return /[A-Z]/.test(name);
}

/** Lines without indentation, line numbers and blank lines, so that the layout of a context does not matter. */
function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/^\s*\d+\s*(?:[|:│]|\t)/, '').trim())
    .filter(Boolean);
}

/** A form of the module: correct, with one bug, or with two. */
interface Form {
  readonly faults: readonly Variant[];
  readonly lines: readonly string[];
  readonly text: string;
}

const FORMS: ReadonlyMap<Family, readonly Form[]> = new Map(FAMILIES.map((family) => [family, allForms(family)]));

/** All possible lines of the module and its tests. */
const OWN_LINES: ReadonlyMap<Family, ReadonlySet<string>> = new Map(
  FAMILIES.map((family) => [family, new Set([...linesOf(family.test), ...formsOf(family).flatMap(({ lines }) => lines)])]),
);

function formsOf(family: Family): readonly Form[] {
  return FORMS.get(family) ?? [];
}

function allForms(family: Family): Form[] {
  const single = family.variants.map((variant) => [variant]);
  const pairs = family.variants.flatMap((first) =>
    family.variants.filter((second) => second !== first).map((second) => [first, second]),
  );
  return [[], ...single, ...pairs].flatMap((faults) => {
    const source = sourceWith(family, faults);
    if (source === undefined) return [];
    const lines = linesOf(source);
    return [{ faults, lines, text: lines.join('\n') }];
  });
}

/** `text` holds the visible lines, joined. */
function seenModule(family: Family, text: string, inView: ReadonlySet<string>): SeenModule {
  const shareOf = ({ lines }: Form): number => lines.filter((line) => inView.has(line)).length / lines.length;
  const [correct] = formsOf(family);
  const sight = correct ? shareOf(correct) : 0;
  // A bug changes only a few lines. If little of the correct module is visible, no form can be recognised.
  if (sight < ENOUGH_SIGHT / 2) return { family, faults: undefined, sight };
  const planted = formsOf(family).filter(({ faults }) => faults.length <= 1);
  const ranked = planted
    .map((form) => ({ form, share: shareOf(form) }))
    .sort((a, b) => b.share - a.share || b.form.lines.length - a.form.lines.length);
  const best = ranked[0];
  if (!best || best.share < ENOUGH_SIGHT) return { family, faults: undefined, sight: best?.share ?? 0 };
  // If the whole module is visible, the order of lines counts, too: a form may lack a line that also occurs elsewhere.
  const whole = planted.find((form) => text.includes(form.text));
  return { family, faults: (whole ?? best.form).faults, sight: best.share };
}
