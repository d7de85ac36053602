import { clip } from '../../common/clip.ts';
import type { EvaluationSummary, EvaluationView, ListedSample, Sample, WholeSample } from '../../protocol/evaluations.ts';
import type { EvaluationProgress } from '../evaluation/open-evaluation.ts';
import type { KeptEvaluation } from '../evaluation/kept-evaluation.ts';
import { comparedTasks, resultRows } from '../evaluation/results.ts';

/* An evaluation as clients see it: of what is in its folder, and of what this process knows of it. */

/** What is known of an evaluation now. */
export interface Known {
  readonly folder: string;
  readonly kept: KeptEvaluation;
  readonly state: EvaluationSummary['state'];
  readonly message?: string | undefined;
  /** Of one that this process runs. */
  readonly progress?: Omit<EvaluationProgress, 'samples'> | undefined;
  /** The number of samples that are judged. */
  readonly judged: number;
}

export function summaryOf({ folder, kept, state, message, progress, judged }: Known): EvaluationSummary {
  const { request, lineUp, startedAt } = kept;
  const tasks = (lineUp?.tasks ?? []).reduce((sum, { tasks: more }) => sum + more, 0);
  const spent = progress?.spent ?? kept.spent;
  return {
    folder, state, startedAt,
    ...(message !== undefined && { message }),
    sources: request.sources.map((source) => source.split(/[\\/]/).at(-1) ?? source),
    simulated: request.simulated || kept.simulation !== undefined || lineUp?.simulated === true,
    done: progress?.done ?? judged,
    all: progress?.all ?? tasks * (lineUp?.contestants.length ?? 0) * request.seeds,
    isPractice: progress?.isPractice ?? false,
    spentUsd: spent?.usd ?? 0,
  };
}

export function viewOf(known: Known, samples: readonly Sample[], page: string | undefined): EvaluationView {
  const { kept: { request, lineUp, spent: keptSpent }, progress } = known;
  const spent = progress?.spent ?? keptSpent;
  const rows = inOrderOf(resultRows(samples), lineUp?.contestants ?? []);
  return {
    ...summaryOf(known),
    budget: request.budget,
    seeds: request.seeds,
    compared: comparedTasks(samples),
    tasks: (lineUp?.tasks ?? []).reduce((sum, { tasks }) => sum + tasks, 0),
    pool: lineUp?.pool ?? [],
    ...(lineUp && { best: lineUp.best }),
    ...(spent && { spent }),
    rows,
    ...(page !== undefined && { page }),
  };
}

/** While samples come in, their order says nothing. */
function inOrderOf<T extends { readonly name: string }>(rows: readonly T[], names: readonly string[]): T[] {
  const at = (name: string): number => (names.includes(name) ? names.indexOf(name) : names.length);
  return rows.toSorted((a, b) => at(a.name) - at(b.name));
}

export const listed = ({ contestant, task, seed, verified, costUsd, isPlan }: Sample): ListedSample =>
  ({ contestant, task, seed, verified, costUsd, ...(isPlan !== undefined && { isPlan }) });

/** The longest text of a sample that is sent whole. A message holds twelve megabytes, and a sample some tens of texts. */
const TEXT_CHARACTERS = 60_000;

export function whole(sample: Sample, question: string | undefined): WholeSample {
  const short = (text: string): string => clip(text, TEXT_CHARACTERS);
  return {
    ...sample,
    reason: short(sample.reason),
    answer: short(sample.answer),
    ...(sample.change !== undefined && { change: short(sample.change) }),
    traces: sample.traces.map((steps) => steps.map((step) => ({ ...step, subtask: short(step.subtask), output: short(step.output) }))),
    ...(question !== undefined && { question: short(question) }),
  };
}
