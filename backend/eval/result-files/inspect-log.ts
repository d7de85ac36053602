import { createHash } from 'node:crypto';
import { addUsage, NO_USAGE, totalTokens } from '../../protocol/token-counts.ts';
import type { Usage } from '../../protocol/usage.ts';
import type { GraderSpec } from '../../verify/graders/tasks/grader-spec.ts';
import { letterOf } from '../../verify/graders/multiple-choice.ts';
import type { Sample } from '../../protocol/evaluations.ts';
import type { Finished } from './finished.ts';

/** The name of our scorer in the log. */
const SCORER = 'conductor';

/**
 * A contestant's samples as a log of Inspect (https://inspect.aisi.org.uk/eval-logs.html, the JSON form, version 2), which its viewer and its
 * functions open. The contestant is the log's model, and seeds are its epochs. Plans and what each worker said are in the samples' metadata.
 */
export function inspectLog({ results, samples, tasks }: Finished, contestant: string): object {
  const own = samples.filter((sample) => sample.contestant === contestant);
  const row = results.contestants.find(({ name }) => name === contestant);
  const ids = [...new Set(own.map(({ task }) => task))];
  const model = `conductor/${contestant}`;
  const identity = idOf(results.at, contestant);
  const taskName = results.sources.map(({ name }) => name).join('+');
  const usage = own.reduce((sum, sample) => addUsage(sum, sample.usage), NO_USAGE);
  return {
    version: 2,
    status: 'success',
    eval: {
      eval_id: identity, run_id: idOf(results.at), created: results.at, task: taskName, task_id: idOf(results.at, taskName),
      task_version: 0, task_attribs: {}, task_args: {}, task_args_passed: {},
      dataset: { name: taskName, samples: ids.length, sample_ids: ids, shuffled: false },
      model, model_generate_config: {}, model_args: {},
      config: { epochs: results.seeds, epochs_reducer: ['mean'] },
      packages: {},
      metadata: {
        conductor: results.conductor, simulated: results.simulated, pool: results.pool, best: results.best,
        ...(row && { right: row.right, versusBest: row.versusBest, usdPerTask: row.costUsd, formatRate: row.formatRate }),
      },
      scorers: [{ name: SCORER, options: {}, metrics: [{ name: 'accuracy', options: {} }] }],
    },
    plan: { name: 'plan', steps: [{ solver: contestant, params: {}, params_passed: {} }], config: {} },
    results: {
      total_samples: own.length, completed_samples: own.length,
      scores: [{
        name: SCORER, scorer: SCORER, reducer: 'mean', scored_samples: ids.length, unscored_samples: 0, params: {},
        metrics: { accuracy: { name: 'accuracy', value: row?.right.mean ?? 0, params: {} } },
      }],
    },
    stats: { started_at: results.at, completed_at: results.at, model_usage: { [model]: modelUsage(usage, own.reduce((sum, { costUsd }) => sum + costUsd, 0)) } },
    samples: own.map((sample) => inspectSample(sample, model, identity, tasks.get(sample.task))),
  };
}

type FinishedTask = ReturnType<Finished['tasks']['get']>;

function inspectSample({ task, seed, verified, score, reason, answer, costUsd, usage, seconds, isPlan, traces }: Sample, model: string, log: string, from: FinishedTask): object {
  const input = from?.question ?? task;
  const output = { role: 'assistant', content: answer, source: 'generate', model };
  const used = modelUsage(usage, costUsd);
  return {
    id: task, epoch: seed + 1, input,
    ...(from?.spec?.kind === 'choice' && { choices: from.spec.choices }),
    target: from?.spec ? targetOf(from.spec) : '',
    messages: [{ role: 'user', content: input, source: 'input' }, output],
    output: { model, choices: [{ message: output, stop_reason: 'stop' }], completion: answer, usage: used, time: seconds },
    scores: { [SCORER]: { value: verified ? 'C' : 'I', answer, explanation: reason, metadata: { score }, history: [] } },
    metadata: { ...(isPlan !== undefined && { isPlan }), plans: traces },
    store: {}, events: [], model_usage: { [model]: used }, total_time: seconds, working_time: seconds, uuid: idOf(log, task, String(seed)),
    error_retries: [], attachments: {},
  };
}

/** The right answer, where it is one text. Programs are judged by their tests. */
function targetOf(spec: GraderSpec): string | readonly string[] {
  switch (spec.kind) {
    case 'choice':
      return typeof spec.answer === 'number' ? letterOf(spec.answer) : spec.answer.toUpperCase();
    case 'math':
    case 'exact':
      return spec.answer;
    case 'cases':
    case 'check':
    case 'unittest':
      return '';
  }
}

/** Inspect counts reasoning as a part of the output, which it is for most providers. */
const modelUsage = (usage: Usage, usd: number): object => ({
  input_tokens: usage.uncachedInput, output_tokens: usage.output + usage.reasoning, total_tokens: totalTokens(usage),
  input_tokens_cache_read: usage.cacheRead, input_tokens_cache_write: usage.cacheWrite, reasoning_tokens: usage.reasoning, total_cost: usd,
});

/** Inspect's ids are 22 characters; these follow from the evaluation, so a log that is written again is the same one. */
const idOf = (...parts: readonly string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('base64url').replaceAll(/[-_]/g, '0').slice(0, 22);

/** Inspect knows its JSON logs by a name that starts with a time. */
export function inspectLogName({ results }: Finished, contestant: string, fileName: string): string {
  return `${results.at.replaceAll(':', '-').replace(/\.\d+Z$/, '')}_${fileName}_${idOf(results.at, contestant)}.json`;
}

export const INSPECT_LOG_NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d_\d\d+-[a-z0-9-]+_[A-Za-z0-9]{22}\.json$/;
