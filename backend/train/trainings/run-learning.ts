import { createHash } from 'node:crypto';
import { parsePlan } from '../../conductor/parse-plan.ts';
import type { LoggedComparison } from '../../protocol/learning.ts';
import type { Example, TrainEngine } from '../engines/engine.ts';
import { openEngine } from '../engines/open-engine.ts';
import { CheckpointStore } from '../grpo/checkpoint-store.ts';
import { FEWEST_EACH, judgeLogged, type ScoredOutcome } from '../outcomes/judge-logged.ts';
import { learnPlans, type OwnExample } from '../outcomes/learn-plans.ts';
import { taughtOutcome, type TaughtOutcome } from '../outcomes/taught-outcome.ts';
import { promptDigest } from '../../solve/plan-tokens.ts';
import { draw } from '../statistics/draws.ts';
import { freezeOutcomes } from './freeze-outcomes.ts';
import type { FrozenOutcomes } from './frozen-outcomes.ts';
import { rateOf } from './learning-rates.ts';
import { policyLossOf } from './policy-loss.ts';
import { TrainingError } from './training-error.ts';
import type { TrainingRunOptions, TrainingRunParts } from './training-parts.ts';

/**
 * Runs a training that learns from the outcomes in the journal, from what it learns to what the newest say of it. Nobody is asked and nothing is
 * paid. Goes on where an earlier process stopped; an outcome whose run was removed meanwhile is learned no more.
 * @throws TrainingError, what its parts throw, the signal's reason
 */
export async function runLearning(parts: TrainingRunParts, options: TrainingRunOptions): Promise<void> {
  const { training, folder, cast: { conductor }, keys, signal, change, report } = options;
  const frozen = (await folder.outcomes()) ?? (await freezeOutcomes(parts, options));
  const { config } = await currentOf(options, frozen);
  const store = new CheckpointStore(folder.path, { configuration: configurationOf(options, frozen) });
  const from = await store.resume();
  const { engine, close } = await openEngine(parts, {
    config, keys, conductor, versions: store.versions,
    ...(from && { from: { version: store.versionName(from.step), engineState: from.engineState } }),
  });
  try {
    const verified = await examplesOf(engine, frozen, parts, options);
    if (verified.length === 0) throw new TrainingError('The plans to learn from are too long for this Conductor, or their runs were removed: ask more, and learn again.');
    await change({ state: 'training', message: LEARNING, step: from?.step ?? 0, progress: null, metrics: { after: 0, told: [...from?.metrics ?? []] } });
    await learnPlans({
      engine, store, plans: { verified, own: await ownExamplesOf(engine, frozen, parts, options) },
      onStep: (step, metrics) => report({ step, metrics: { after: step - 1, told: [metrics] } }),
    }, { ...config, learningRate: rateOf(config, conductor, 'outcomes'), loss: policyLossOf(config) }, { from, signal });
    await change({ state: 'evaluating', message: JUDGING, progress: null });
    const logged = judgeLogged(await scoresOf(engine, frozen, parts, options), training.config.seed);
    await change({ logged });
    await change({ state: 'completed', message: verdictOf(logged), progress: null });
  } finally {
    await close();
  }
}

const LEARNING = 'Learning from plans that your tests verified.';
const JUDGING = 'Judging on the newest outcomes.';

/** The number of steps follows from what there is to learn from. */
async function currentOf({ training: { config }, change }: TrainingRunOptions, { steps }: Pick<FrozenOutcomes, 'steps'>): Promise<Pick<TrainingRunOptions['training'], 'config'>> {
  const changed = { ...config, steps };
  if (config.steps !== steps) await change({ config: changed });
  return { config: changed };
}

/** A digest of everything that decides what is learned. */
function configurationOf({ cast: { conductor, pool } }: TrainingRunOptions, frozen: FrozenOutcomes): string {
  const text = JSON.stringify([frozen, pool.map(({ id, model }) => [id, model]), conductor.model, conductor.adapter, ...(conductor.weights === undefined ? [] : [conductor.weights])]);
  return createHash('sha256').update(text).digest('hex');
}

async function examplesOf(engine: TrainEngine, { taught, counts }: FrozenOutcomes, parts: TrainingRunParts, options: TrainingRunOptions): Promise<Example[]> {
  const examples: Example[] = [];
  let tooLong = 0;
  for (const { runId, round, weight } of taught) {
    options.signal.throwIfAborted();
    const found = taughtOf({ runId, round }, parts, options);
    if (!found) continue;
    const { prompt, text } = found;
    const encoded = await engine.encode(prompt, { text, ends: true });
    if (await engine.hasRoom(prompt, encoded.tokens.length)) examples.push({ ...encoded, samplerLogprobs: [], advantage: 0, weight });
    else tooLong += 1;
  }
  if (tooLong > 0) await options.change({ outcomes: { ...counts, leftOut: [...counts.leftOut, { reason: 'too-long', count: tooLong }] } });
  return examples;
}

/** The learner's own plans, as it sampled them. One whose prompt is another by now, such as with other workers, has no probability to compare with. */
async function ownExamplesOf(engine: TrainEngine, { own }: FrozenOutcomes, parts: TrainingRunParts, options: TrainingRunOptions): Promise<OwnExample[]> {
  const examples: OwnExample[] = [];
  for (const { runId, round, advantage } of own) {
    options.signal.throwIfAborted();
    const found = taughtOf({ runId, round }, parts, options);
    const sampled = found && parts.journal.read(runId).flatMap(({ event }) => (event.type === 'plan.proposed' && event.round === round ? event.tokens ?? [] : [])).at(-1);
    if (!sampled) continue;
    const { promptTokens } = await engine.encode(found.prompt, { text: found.text, ends: true });
    if (promptDigest(promptTokens) !== sampled.prompt || !(await engine.hasRoom(found.prompt, sampled.ids.length))) continue;
    examples.push({ promptTokens, tokens: sampled.ids, samplerLogprobs: sampled.logprobs, advantage, temperature: sampled.temperature });
  }
  return examples;
}

/** How likely each of the newest plans was and is. What decides who does what is judged, not the words around it. */
async function scoresOf(engine: TrainEngine, { heldOut }: FrozenOutcomes, parts: TrainingRunParts, options: TrainingRunOptions): Promise<ScoredOutcome[]> {
  const { seed, maxTokens } = options.training.config;
  const scores: ScoredOutcome[] = [];
  for (const [index, { runId, round, verified }] of heldOut.entries()) {
    options.signal.throwIfAborted();
    const found = taughtOf({ runId, round }, parts, options);
    if (!found) continue;
    const { prompt: { messages, prefill = '' }, text, decision: { from, to } } = found;
    const prompt = { messages, prefill: `${prefill}${text.slice(0, from)}` };
    const encoded = await engine.encode(prompt, { text: text.slice(from, to), ends: false });
    if (!(await engine.hasRoom(prompt, encoded.tokens.length))) continue;
    const score = async (version: 'initial' | 'latest'): Promise<number> =>
      (await engine.forward([encoded], 1, options.signal, version)).flat().reduce((sum, logprob) => sum + logprob, 0);
    const writes = async (version: 'initial' | 'latest'): Promise<boolean> => {
      const [written] = await engine.sample({ ...found.prompt, maxTokens, temperature: 1, seeds: [draw(seed, 'judging', index)], version, signal: options.signal });
      return written !== undefined && parsePlan(written.text, { workerCount: options.cast.pool.length, round, truncated: written.finishReason === 'length' }).kind !== 'rejected';
    };
    scores.push({
      verified, before: await score('initial'), after: await score('latest'), valid: { before: await writes('initial'), after: await writes('latest') },
    });
    options.report({ progress: { done: index + 1, of: heldOut.length } });
  }
  return scores;
}

function taughtOf({ runId, round }: { readonly runId: string; readonly round: number }, { journal }: Pick<TrainingRunParts, 'journal'>, { cast }: TrainingRunOptions): TaughtOutcome | undefined {
  const run = journal.snapshot(runId);
  return run && taughtOutcome(run, round, cast);
}

function verdictOf({ says, verified, other }: LoggedComparison): string {
  switch (says) {
    case 'better': return 'Better on the newest outcomes: what was verified became likelier than what was not. Adopt it if you like.';
    case 'not-better': return 'Not better on the newest outcomes, so it is not offered.';
    case 'not-known': return Math.min(verified, other) < FEWEST_EACH
      ? `Whether it is better is not known, so it is not offered: it takes ${FEWEST_EACH} verified and ${FEWEST_EACH} other plans among the newest, and there are ${verified} and ${other}.`
      : 'Whether it is better is not known, so it is not offered: the newest outcomes show no difference that chance alone would not give.';
  }
}
