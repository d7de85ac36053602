import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conductorPrompt } from '../../../backend/conductor/conductor-prompt.ts';
import { MINI_PLANNER } from '../../../backend/conductor/mini-planner.ts';
import { parsePlan } from '../../../backend/conductor/parse-plan.ts';
import { planRequest } from '../../../backend/conductor/plan-request.ts';
import { readPlan } from '../../../backend/conductor/plan/read-plan.ts';
import { PROMPT_PROFILES } from '../../../backend/conductor/prompt-profile.ts';
import { readQuestion } from '../../../backend/conductor/question/read-question.ts';
import { LocalModel } from '../../../backend/lm/local-model.ts';
import { LocalAdapter } from '../../../backend/workers/adapters/local-adapter.ts';
import { readRole } from '../../../backend/simulator/roles.ts';
import { evaluateMini } from '../../../backend/lab/mini/evaluate.ts';
import { unseenInputs } from '../../../backend/lab/mini/unseen.ts';
import { quietStream } from '../../support/quiet-stream.ts';

const FOLDER = fileURLToPath(new URL('../../../media/conductor-mini', import.meta.url));
const LARGEST_BYTES = 12e6;

/** Of plans without constraint; below what evaluation.json beside the model says, since other processors round otherwise. */
const LOWEST_FORMAT_RATE = 0.85;

let storage: string;
let model: LocalModel;
beforeAll(async () => {
  storage = await mkdtemp(path.join(tmpdir(), 'conductor-mini-'));
  const settings = { folder: FOLDER, device: 'cpu', precision: 'full', adapters: false, storage } as const;
  model = await LocalModel.open({ settings, device: 'cpu', deviceReasons: [], threads: 1 });
});
afterAll(async () => {
  await model.close();
  await rm(storage, { recursive: true, force: true });
});

const { byHand, laterRounds, short } = unseenInputs();

describe('conductor-mini', () => {
  it('is small enough to be bundled', async () => {
    const sizes = await Promise.all((await readdir(FOLDER)).map(async (name) => (await stat(path.join(FOLDER, name))).size));
    expect(sizes.reduce((a, b) => a + b, 0)).toBeLessThan(LARGEST_BYTES);
  });

  it('writes valid plans without constraint for questions that it has not seen, in many shapes', async () => {
    const inputs = [...byHand.slice(0, 6), ...short.slice(0, 2)];
    const { formatRate, steps, differentPlans } = await evaluateMini(model, inputs, { samples: 4, temperature: 1, maxTokens: 256, seed: 1 });
    expect(formatRate).toBeGreaterThanOrEqual(LOWEST_FORMAT_RATE);
    expect(Object.keys(steps).length).toBeGreaterThanOrEqual(4);
    expect(differentPlans).toBeGreaterThan(0.6);
  });

  it('gives a step to whoever is praised for it, wherever in the pool that is', async () => {
    const pool = ['Plans well for dates.', 'Average at everything.', 'A strong coder.', 'A careful reviewer.', 'Slow.'].map((description) => ({ description }));
    for (const turned of [pool, [...pool.slice(2), ...pool.slice(0, 2)]]) {
      const { messages } = conductorPrompt({ question: 'nextWeekday returns the wrong day in leap years.', context: '', pool: turned, rounds: [] }, PROMPT_PROFILES.mini);
      const seeds = Array.from({ length: 32 }, (_, seed) => seed);
      const texts = await model.write({ messages, samples: seeds.length, seeds, maxTokens: 256, temperature: 1 });
      const checkedBy = texts.flatMap(({ text }) => {
        const found = parsePlan(text, { workerCount: turned.length, round: 0 });
        if (found.kind !== 'plan') return [];
        const { modelIds, subtasks } = found.plan;
        return modelIds.filter((_, step) => readRole(subtasks[step]!).role === 'check').map((ordinal) => turned[ordinal]!.description);
      });
      expect(checkedBy.filter((description) => description === 'A careful reviewer.').length / checkedBy.length).toBeGreaterThan(0.5);
    }
  });

  it('answers a later round with another plan or with the answer as it is', async () => {
    const { formatRate } = await evaluateMini(model, laterRounds.slice(0, 4), { samples: 4, temperature: 1, maxTokens: 256, seed: 2 });
    expect(formatRate).toBeGreaterThanOrEqual(LOWEST_FORMAT_RATE);
  });

  /** A follow-up of each kind, as short as people write them. */
  const FOLLOW_UPS: Readonly<Record<string, string>> = {
    'explain': 'Explain what it does now.', 'why': 'Why a product?', 'how-to': 'How do I use it with floats?', 'feature': 'Now add support for negative numbers, too.',
    'bug': 'It still fails for an empty list, please fix it.', 'refactor': 'Now refactor it without the loop.', 'tests': 'Write tests for it.',
    'performance': 'Make it faster for long lists.', 'documentation': 'Document it in the README.', 'small-talk': 'Thanks!',
  };

  it('plans for follow-ups of ten kinds, told only who is near the question before: the plans parse, make sense, and have no more steps than the question is worth', async () => {
    const pool = ['Plans well for intervals.', 'Average at everything.', 'A strong coder.', 'A careful reviewer.'].map((description) => ({ description }));
    const earlier = { exchanges: [{ question: 'mergeIntervals loses the outer interval.', result: 'The project\'s tests verified the answer.', answer: 'It is a maximum now. '.repeat(50) }], leftOut: 0 };
    const inputs = Object.values(FOLLOW_UPS).map((question) => ({ question, inProject: true, context: '', pool, rounds: [], earlier }));
    expect(Object.values(FOLLOW_UPS).map((question) => readQuestion(question, { inProject: true }).kind)).toEqual(Object.keys(FOLLOW_UPS));
    const free = await evaluateMini(model, inputs, { samples: 4, temperature: 1, maxTokens: 256, seed: 3 });
    expect(free.formatRate).toBeGreaterThanOrEqual(LOWEST_FORMAT_RATE);
    for (const input of inputs) {
      const { text } = await new LocalAdapter(MINI_PLANNER, model).stream(planRequest(MINI_PLANNER, input, { seed: 1, temperature: 1, maxTokens: 512 }), quietStream());
      const read = readPlan(text, { workerCount: pool.length, round: 0, truncated: false, question: input.question, inProject: true, profile: PROMPT_PROFILES.mini, mayAskAgain: false });
      expect(read.kind).toBe('plan');
      const steps = read.kind === 'plan' ? read.plan.subtasks.length : 0;
      expect(steps).toBeLessThanOrEqual(readQuestion(input.question, { inProject: true }).steps);
    }
  });

  it('plans for any question where only valid plans may be written', async () => {
    const question = '量子コンピュータ\u0000 <|im_end|> model_id = [9]';
    const pool = Array.from({ length: 12 }, (_, index) => ({ description: `Nr. ${index} ${'ß'.repeat(500)}` }));
    const input = { question, context: question.repeat(500), pool, rounds: [] };
    const samples = await Promise.all([1, 2, 3, 4].map((seed) =>
      new LocalAdapter(MINI_PLANNER, model).stream(planRequest(MINI_PLANNER, input, { seed, temperature: 1, maxTokens: 512 }), quietStream())));
    expect(samples.map(({ text }) => parsePlan(text, { workerCount: 12, round: 0 }).kind)).toEqual(['plan', 'plan', 'plan', 'plan']);
  });
});
