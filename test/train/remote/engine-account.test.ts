import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Journal } from '../../../backend/journal/journal.ts';
import { trainingConfigSchema } from '../../../backend/protocol/training.ts';
import type { Example, PolicyLoss } from '../../../backend/train/engines/engine.ts';
import { TinkerClient } from '../../../backend/train/engines/remote/client.ts';
import { RemoteEngine } from '../../../backend/train/engines/remote/remote-engine.ts';
import { remoteTerms } from '../../../backend/train/engines/remote/remote-terms.ts';
import { TrainingBudgetError } from '../../../backend/train/rollouts/training-budget.ts';
import { engineAccount } from '../../../backend/train/trainings/engine-account.ts';
import { SEVEN_BILLION } from '../../lm/geometries.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { SimulatedTinker } from './simulated-tinker.ts';

/* What a training server bills is part of the training's budget. The server is a simulation. */

const SCOPE = 'training:t1';
/** A dollar a token read, 10 a token written, 100 a token learned from. */
const PRICE = { prefillPerMillion: 1e6, samplePerMillion: 10e6, trainPerMillion: 100e6 };
const LOSS: PolicyLoss = { type: 'grpo', clip: { low: 0.2, high: 0.2 }, klCoefficient: 0, importanceRatioCap: 2, temperature: 1, maxCompletionLength: 8 };
const EXAMPLE: Example = { promptTokens: [1, 2, 3], tokens: [5, 5], samplerLogprobs: [-1, -1], advantage: 1 };
const SAMPLE = { messages: [], maxTokens: 20, temperature: 1, seeds: [1, 2] };

let folder: string;
let tinker: SimulatedTinker;
let journal: Journal;
let limitUsd: number;
let engine: RemoteEngine;

beforeEach(async () => {
  folder = await temporaryFolder();
  tinker = await SimulatedTinker.start({ speaks: 'json' });
  journal = Journal.open(path.join(folder, 'journal.sqlite'), { isDurable: false });
  limitUsd = 10_000;
  engine = await open();
});
afterEach(async () => {
  await engine.close();
  journal.close();
  await tinker.close();
});

async function open(): Promise<RemoteEngine> {
  const opened = new RemoteEngine({
    client: new TinkerClient({ url: tinker.url, waits: [1, 1] }),
    model: { baseModel: 'small', rank: 8, seed: 1 }, tokenizer: { chat: () => [1, 2, 3], decode: (ids) => ids.join(' '), stopTokenIds: [9] },
    config: SEVEN_BILLION, contextLength: 10, versions: folder,
    account: { price: PRICE, pay: engineAccount({ journal, trainingId: 't1', scope: SCOPE, limitUsd: () => limitUsd }) },
  });
  await opened.begin();
  return opened;
}

const spent = (): number => journal.budget.spent(SCOPE).usd;
const calls = (verb: string): number => tinker.calls.filter((call) => call.verb === verb).length;

it('counts what is read, written and learned from', async () => {
  await engine.sample(SAMPLE);
  // Two samples of a prompt of 3 tokens, each of 2 tokens.
  expect(spent()).toBe(2 * 3 + 2 * 2 * 10);
  await engine.forwardBackward(LOSS, [EXAMPLE]);
  // A prompt and a completion without its last token, which predicts nothing; scored by the trainer first.
  const whole = 3 + 2 - 1;
  expect(spent()).toBe(46 + whole + whole * 100);
  expect(journal.budget.reserved(SCOPE)).toEqual({ usd: 0, tokens: 0 });
});

it('counts again what a server that lost the model has to compute again', async () => {
  await engine.forwardBackward(LOSS, [EXAMPLE]);
  const once = spent();
  tinker.forget();
  await engine.optimStep({ learningRate: 1e-3, gradientClip: 1 });
  expect(calls('forward_backward')).toBe(2);
  expect(spent()).toBe(once + 400);
});

it('counts a sample that was lost and is asked again of a new model both times', async () => {
  let isLost = false;
  tinker.fate = (verb) => {
    if (verb !== 'retrieve_future' || isLost) return undefined;
    isLost = true;
    return { status: 404, detail: 'Future not found' };
  };
  await engine.sample(SAMPLE);
  // Nobody knows how long the lost ones were: at most 7 tokens fit into the context.
  expect(spent()).toBe((2 * 3 + 2 * 7 * 10) + (2 * 3 + 2 * 2 * 10));
  expect(journal.budget.reserved(SCOPE)).toEqual({ usd: 0, tokens: 0 });
});

it('asks for nothing that the budget does not hold, and goes on with a higher one', async () => {
  // At most 7 tokens fit into the context behind the prompt.
  limitUsd = 2 * 3 + 2 * 7 * 10 - 1;
  await expect(engine.sample(SAMPLE)).rejects.toThrow(new TrainingBudgetError(
    'The budget of this training ($145.00) does not hold the next call of the training server, which may cost $146.00: $0 are spent. Resume the training with a higher limit.',
    { by: 'usd', limit: limitUsd, needed: 146 },
  ));
  expect(calls('asample')).toBe(0);
  limitUsd += 1;
  await engine.sample(SAMPLE);
  expect(calls('asample')).toBe(2);
});

it('waits for workers that have set aside what it needs', async () => {
  limitUsd = 200;
  const held = journal.budget.reserve({ runId: 'rollout', scopes: [{ name: SCOPE, limitUsd }], usd: 150, tokens: 0 });
  const sampled = engine.sample(SAMPLE);
  setTimeout(() => journal.budget.release((held as { reservationId: string }).reservationId), 50);
  expect(await sampled).toHaveLength(2);
});

it('pays nothing for what the server refuses, and the most for what nobody knows', async () => {
  tinker.fate = (verb) => (verb === 'asample' ? { status: 422, detail: 'no' } : undefined);
  await expect(engine.sample(SAMPLE)).rejects.toThrow();
  expect(spent()).toBe(0);
  const stop = new AbortController();
  tinker.fate = (verb) => {
    if (verb !== 'asample') return undefined;
    stop.abort(new Error('stopped'));
    return 'breaks';
  };
  await expect(engine.sample({ ...SAMPLE, signal: stop.signal })).rejects.toThrow();
  expect(spent()).toBe(2 * 3 + 2 * 7 * 10);
});

it('counts what a killed process had under way with the most that it may have cost', async () => {
  const { reservationId } = journal.budget.reserve({ runId: 't1.engine', scopes: [{ name: SCOPE }], usd: 7, tokens: 0 }) as { reservationId: string };
  journal.budget.markSent(reservationId);
  await (await open()).close();
  expect(spent()).toBe(7);
});

it('is estimated before it starts', () => {
  const config = trainingConfigSchema.parse({
    engine: { kind: 'remote', url: 'http://127.0.0.1:8000', price: { prefillPerMillion: 0.2, samplePerMillion: 0.6, trainPerMillion: 0.6 } }, steps: 100, tasksPerStep: 4, groupSize: 64,
  });
  // 256 plans a step: 4,250 tokens read, 250 written, 2,250 learned from.
  expect(remoteTerms(config)).toContain(
    'The server costs about $0.6016 a step and $60.16 for 100 steps, if a question with its context has 2,000 tokens and a plan 250; the comparison comes on top. What it costs is part of the budget.',
  );
  expect(remoteTerms(trainingConfigSchema.parse({ engine: { kind: 'remote', url: 'http://127.0.0.1:8000' } })).join(' ')).toContain('is not counted, and the budget does not limit it');
});
