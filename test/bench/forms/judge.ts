import { parsePatch } from '../../../backend/verify/patch/parse-patch.ts';
import { languageOf } from '../../../backend/verify/syntax/language.ts';
import { namedItems, outlineOf } from '../../../backend/verify/syntax/outline.ts';
import type { Form } from './forms.ts';
import type { Mishap } from './mishaps.ts';
import { changed, type Sample, type Target } from './samples.ts';

/** What came of an answer. `wrong` is never right: a file other than the one that was meant. */
export type Outcome = 'applied' | 'refused' | 'nothing' | 'wrong';

export interface Case {
  readonly answer: string;
  readonly file: string;
  readonly expected: string;
}

/** The answer and the file of a row. Undefined where the mishap does not happen to the form. */
export function caseOf(form: Form, mishap: Mishap, sample: Sample, target: Target): Case | undefined {
  const written = form.write(sample, target);
  const answer = mishap.answer ? mishap.answer(written, sample, target) : written;
  if (answer === undefined || (answer === written && mishap.answer)) return undefined;
  const expected = changed(sample, target);
  return { answer, file: mishap.file?.(sample.file) ?? sample.file, expected: mishap.expected?.(expected) ?? expected };
}

/** Whether an outcome is one that a row allows. */
export const isAsWanted = (outcome: Outcome, form: Form, mishap: Mishap): boolean =>
  outcome === 'applied' ? mishap.outcome !== 'refused' : outcome !== 'wrong' && (mishap.outcome !== 'applied' || (form.mayBeAmbiguous === true && outcome === 'refused'));

const bare = (text: string): string => text.replaceAll(/[ \t\r\uFEFF]/g, '').replaceAll(/\n+/g, '\n').trim();

/** Reads an answer against the files in `base`, of which the sample's is one. */
export async function outcomeOf({ answer, expected }: Case, { path }: Pick<Sample, 'path'>, base: string, shown: readonly string[]): Promise<Outcome> {
  const { edits, refused } = await parsePatch(answer, base, { candidates: [...shown] });
  if (edits.length === 0) return refused.length > 0 ? 'refused' : 'nothing';
  const [edit, ...others] = edits;
  if (edit?.path !== path || others.length > 0 || edit.after === null || refused.length > 0) return 'wrong';
  // Layout that no reading can restore (blank lines, indentation) is compared by what is left without it; in Python it has a meaning.
  const isSame = languageOf(path) === 'python' ? edit.after.trimEnd().replaceAll(/\n+/g, '\n') === expected.trimEnd().replaceAll(/\n+/g, '\n') : bare(edit.after) === bare(expected);
  return isSame && edit.after.includes('\r\n') === expected.includes('\r\n') && edit.after.startsWith('\uFEFF') === expected.startsWith('\uFEFF') ? 'applied' : 'wrong';
}

/** What no answer may do to a file: cut it off, write what stands for something left out, lose a definition or have one twice. */
export async function damage(before: string, after: string, path: string, mayLose: readonly string[] = []): Promise<string | undefined> {
  const language = languageOf(path);
  if (!language) return undefined;
  const [old, now] = [await outlineOf(before, language), await outlineOf(after, language)];
  if (old?.hasError === false && now?.hasError !== false) return 'it cannot be parsed';
  if (/\uE000|existing code|rest unchanged|stays the same/.test(after) && !/existing code|rest unchanged|stays the same/.test(before)) return 'it holds a mark of something left out';
  const [had, has] = [old, now].map((outline) => [...namedItems(outline?.items ?? [])].map(({ path: name }) => name)) as [string[], string[]];
  const lost = had.filter((name) => !has.includes(name) && !mayLose.includes(name));
  if (lost.length > 0) return `it lost ${lost.join(', ')}`;
  const doubled = has.filter((name, index) => has.indexOf(name) !== index && had.filter((other) => other === name).length < has.filter((other) => other === name).length);
  return doubled.length > 0 ? `it has ${doubled.join(', ')} twice` : undefined;
}
