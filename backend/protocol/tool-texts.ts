import { clip } from '../common/clip.ts';
import { counted } from '../common/counted.ts';
import { formatMoney } from './figures.ts';
import type { RunSummary } from './methods.ts';
import { answerOf } from './run-facts.ts';
import type { RunSnapshot } from './run-snapshot.ts';
import { isRed } from './test-changes.ts';
import type { VerifiedChange } from './verified-change.ts';

/* What a model that called a tool reads. Clients cut long results off at places of their own, so these are clipped where least is lost. */

const MAX_ANSWER = 20_000;
const MAX_DIFFS = 40_000;
const MAX_TESTS = 20;
const MAX_MESSAGE = 600;

/** The tests that did not pass. What the first ones said is kept as far as a model needs it. */
export function redTests(tests: VerifiedChange['tests']): { id: string; before: string; after: string; message: string | null }[] {
  return tests.filter(isRed).map(({ id, before, after, message }, index) => ({ id, before, after, message: message === undefined || index >= MAX_TESTS ? null : clip(message, MAX_MESSAGE) }));
}

/** The verdict: what it is, why, and the tests that did not pass. */
export function verdictText({ outcome, reason, tests, notes, command, remedy }: Pick<VerifiedChange, 'outcome' | 'reason' | 'tests' | 'notes'> & { readonly command: string | null; readonly remedy?: string | undefined }): string {
  const failing = redTests(tests);
  return [
    `${outcome.toUpperCase()}: ${reason}`,
    ...failing.slice(0, MAX_TESTS).map(({ id, before, after, message }) => `- ${id}: ${before} before, ${after} now${message === null ? '' : `\n  ${message.replaceAll('\n', '\n  ')}`}`),
    ...(failing.length > MAX_TESTS ? [`${counted(failing.length - MAX_TESTS, 'more test')} did not pass.`] : []),
    ...notes.map((note) => `Note: ${note}`),
    ...(command === null ? [] : [`The command was: ${command}`]),
    ...(remedy === undefined ? [] : [`To make the tests run here: ${remedy}`]),
  ].join('\n');
}

export const clippedAnswer = (text: string): string => clip(text, MAX_ANSWER);

/** How a run ended: its answer, its change, what the tests said of it, and what it cost. */
export function runText(run: RunSnapshot): string {
  const answer = answerOf(run);
  const { verdict } = answer?.round ?? {};
  const diffs = (answer?.round.answer?.edits ?? []).map(({ diff }) => diff).join('\n');
  return [
    `Run ${run.runId}: ${run.state}${run.outcome === undefined ? '' : `, ${run.outcome}`}.${run.message === undefined ? '' : ` ${run.message}`}`,
    ...(run.pool.some(({ simulated }) => simulated) ? ['SIMULATED: the workers of this run are a simulation on this machine.'] : []),
    ...(answer ? [clippedAnswer(answer.text)] : []),
    ...(diffs === '' ? [] : [`The change, which is not in the workspace yet:\n${clip(diffs, MAX_DIFFS)}`]),
    ...(verdict ? [verdictText(verdict)] : []),
    `It cost ${formatMoney(run.spent)}.`,
  ].join('\n\n');
}

/** A line for each run: its id, how it ended, and its question. */
export function runsText(runs: readonly Pick<RunSummary, 'runId' | 'state' | 'outcome' | 'question'>[]): string {
  if (runs.length === 0) return 'No runs yet.';
  return runs.map(({ runId, state, outcome, question }) => `${runId}  ${outcome ?? state}  ${question.replace(/\s+/g, ' ').slice(0, 120)}`).join('\n');
}
