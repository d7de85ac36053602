import * as z from 'zod';
import type { EvaluationView, ListedSample, WholeSample } from './evaluations.ts';

/* What the page of an evaluation and the extension say to each other. The extension owns the state and always sends it whole. */

/** Which samples are listed: of one contestant or, with the empty name, of all. */
export interface SampleFilter {
  readonly contestant: string;
  readonly outcome: 'all' | 'right' | 'wrong';
}

export interface OpenedSample extends Pick<ListedSample, 'contestant' | 'task' | 'seed'> {
  /** Absent until it is read. */
  readonly sample?: WholeSample;
}

export interface EvaluationPageState {
  readonly evaluation?: EvaluationView;
  readonly filter: SampleFilter;
  readonly samples: readonly ListedSample[];
  /** How many the filter lets through. */
  readonly allSamples: number;
  readonly opened?: OpenedSample;
  /** Why the last command was refused, or nothing can be shown; one sentence. */
  readonly problem?: string;
}

export interface EvaluationPageMessage {
  readonly type: 'state';
  readonly state: EvaluationPageState;
}

const name = z.string().max(1_000);

/** Commands of the page. It shows text that models wrote, so each is checked. */
export const evaluationCommandSchema = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['ready', 'more', 'close', 'stop', 'resume', 'refresh', 'openResults', 'remove']) }),
  // Only what the user changed: the page may not have the state of the last change yet.
  z.object({ type: z.literal('filter'), contestant: name.optional(), outcome: z.enum(['all', 'right', 'wrong']).optional() }),
  z.object({ type: z.literal('open'), contestant: name, task: z.string().max(10_000), seed: z.number().int() }),
]);
export type EvaluationCommand = z.infer<typeof evaluationCommandSchema>;
