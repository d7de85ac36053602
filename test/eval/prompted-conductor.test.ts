import { describe, expect, it } from 'vitest';
import { profileOf } from '../../backend/conductor/prompt-profile.ts';
import { planRequest } from '../../backend/conductor/plan-request.ts';
import { ablation } from '../../backend/conductor/plan/ablations.ts';
import { profileWith } from '../../backend/eval/conductor-profile.ts';
import { readConductor, switchWords, SWITCH_NAMES } from '../../backend/eval/conductor-switches.ts';
import { promptedConductor } from '../../backend/eval/contestants/prompted-conductor.ts';
import { evaluate } from '../../backend/eval/evaluation/evaluate.ts';
import type { AskModel } from '../../backend/eval/evaluation/paid-calls.ts';
import { NO_USAGE } from '../../backend/protocol/token-counts.ts';
import { exactTasks, workerNamed } from './evaluation/exact-tasks.ts';

const { signal } = new AbortController();
const pool = ['dear', 'cheap', 'middling'].map((id) => workerNamed(id, 'http://127.0.0.1:1/v1'));
const planner = workerNamed('planner', 'http://127.0.0.1:1/v1');
const planOf = (workers: readonly number[], access = workers.map(() => '[]')): string =>
  `model_id = [${workers.join(', ')}]\nsubtasks = [${workers.map((_, step) => `"Answer what is asked, part ${step}."`).join(', ')}]\naccess_list = [${access.join(', ')}]`;
const KEEP = 'model_id = []\nsubtasks = []\naccess_list = []';

interface Told {
  readonly worker: string;
  readonly text: string;
  readonly sample: number;
}

/** Runs one Conductor on one task that is judged while it is answered, unless `blind`. */
async function conducted(switchesText: string, { plans, say, blind = false }: {
  readonly plans: (told: Told, before: number) => string; readonly say: (told: Told) => string; readonly blind?: boolean;
}) {
  const { switches } = readConductor(`planner${switchesText}`, { rounds: 1, attempts: 1 });
  const asked: Told[] = [];
  const ask: AskModel = async (worker, request, sample) => {
    const told = { worker: worker.id, text: request.messages.map(({ content }) => content).join('\n'), sample };
    const before = asked.filter((one) => one.worker === 'planner').length;
    asked.push(told);
    return { text: worker.id === 'planner' ? plans(told, before) : say(told), finishReason: 'stop', costUsd: 1, usage: NO_USAGE, seconds: 1 };
  };
  const [easy] = exactTasks(1) as [ReturnType<typeof exactTasks>[0]];
  // Small talk gets one step.
  const task = { ...easy, question: 'Write a function `merge(intervals)` in Python that joins intervals that overlap or touch, and handles empty lists, single intervals and intervals in any order.' };
  const conductor = promptedConductor({
    name: 'Conductor', planner, profile: profileWith(profileOf(planner), switches, undefined), pool, switches, signal, ask,
    ablations: switches.ablations.map((name) => ablation(name, 0)), priceOf: (worker) => [9, 1, 5][worker] ?? Infinity,
  });
  const [sample] = await evaluate({
    tasks: [{ ...task, ...(!blind && { tests: task.grader }) }], contestants: [conductor], pool, seeds: 1, ask, concurrency: 1, signal,
  });
  return { sample, workers: asked.filter(({ worker }) => worker !== 'planner'), asked };
}

describe('a Conductor with rounds', () => {
  it('sees what tests said, lets its workers see it, and ends with a verified answer', async () => {
    const { sample, workers, asked } = await conducted('+rounds=3', {
      plans: (_, before) => (before === 0 ? planOf([0]) : planOf([1], ['["all"]'])), say: ({ worker }) => (worker === 'cheap' ? 'right' : 'wrong'),
    });
    expect(sample).toMatchObject({ verified: true, isPlan: true, costUsd: 4 });
    expect(workers.map(({ worker }) => worker)).toEqual(['dear', 'cheap']);
    expect(asked[2]?.text).toContain('TEST FEEDBACK');
    expect(workers[1]?.text).toMatch(/<previous_round>[^]*wrong[^]*<feedback>/);
    expect(sample?.traces).toHaveLength(2);
  });

  it('keeps its answer where it says so, and the better of two otherwise', async () => {
    const kept = await conducted('+rounds=3', { blind: true, plans: (_, before) => (before === 0 ? planOf([0]) : KEEP), say: () => 'right' });
    expect([kept.sample?.verified, kept.sample?.costUsd, kept.sample?.isPlan]).toEqual([true, 3, true]);
    expect(kept.asked.at(-1)?.text).toContain('The answer was not tested.');
    const invalid = await conducted('+rounds=2', { plans: (_, before) => (before === 0 ? planOf([0]) : 'No.'), say: () => 'wrong' });
    expect([invalid.sample?.answer, invalid.sample?.isPlan]).toEqual(['wrong', false]);
  });
});

describe('a Conductor with attempts', () => {
  it('tries the cheapest plan first, pays for all plans, and ends with a verified answer', async () => {
    const { sample, workers, asked } = await conducted('+attempts=3', { plans: ({ sample: at }) => planOf([at]), say: ({ worker }) => (worker === 'middling' ? 'right' : 'wrong') });
    expect(asked.filter(({ worker }) => worker === 'planner').map((one) => one.sample)).toEqual([0, 1, 2]);
    expect(workers.map(({ worker }) => worker)).toEqual(['cheap', 'middling']);
    expect(sample).toMatchObject({ verified: true, costUsd: 5 });
  });

  it('tries one where nothing could choose', async () => {
    const { workers } = await conducted('+attempts=3', { blind: true, plans: () => planOf([0]), say: () => 'wrong' });
    expect(workers).toHaveLength(1);
  });
});

describe('the switches of a Conductor', () => {
  it('change its plan before it is carried out', async () => {
    const { workers } = await conducted('+one-worker+vague+access=nothing', { plans: () => planOf([1, 2], ['[]', '[0]']), say: () => 'secret' });
    expect(workers.map(({ worker }) => worker)).toEqual(['dear', 'dear']);
    expect(workers.every(({ text }) => text.endsWith('Your subtask: Solve the user question.') && !text.includes('secret'))).toBe(true);
  });

  it('draw so many workers for a task, and number these', async () => {
    const { workers, asked } = await conducted('+pool=1', { plans: () => planOf([0]), say: () => 'right' });
    expect(asked[0]?.text).toContain('AVAILABLE WORKERS:\nWorker 0\n\n');
    expect(workers).toHaveLength(1);
    expect((await conducted('+pool=1', { plans: () => planOf([1]), say: () => 'right' })).sample?.isPlan).toBe(false);
  });

  it('make itself a worker to a depth, whose plan is part of the cost', async () => {
    const { sample, workers, asked } = await conducted('+self=1', {
      plans: ({ text }) => (text.includes('a plan of its own:') ? planOf([1]) : planOf([0, 3], ['[]', '[0]'])), say: ({ worker }) => (worker === 'cheap' ? 'right' : 'a hint'),
    });
    expect(workers.map(({ worker }) => worker)).toEqual(['dear', 'cheap']);
    expect(workers[1]?.text).toMatch(/a plan of its own:[^]*handed on:\na hint/);
    // The inner plan has no such worker any more.
    expect(asked.filter(({ worker }) => worker === 'planner').map(({ text }) => text.includes('\nWorker 3: Yourself'))).toEqual([true, false]);
    expect(sample).toMatchObject({ verified: true, costUsd: 4, answer: 'right' });
    expect(sample?.traces.map((steps) => steps.map(({ worker }) => worker))).toEqual([['dear', 'self'], ['cheap']]);
    expect((await conducted('+self=1', { plans: () => planOf([3, 3], ['[]', '[0]']), say: () => 'right' })).sample?.isPlan).toBe(false);
  });

  it('give the prompt other examples, or the paper\'s form', () => {
    const text = (switchesText: string): string => {
      const { switches } = readConductor(`planner${switchesText}`, { rounds: 1, attempts: 1 });
      const input = { question: 'How many?', context: '', pool: [{ description: 'good at counting' }, {}], rounds: [] };
      return planRequest(planner, input, {}, profileWith(profileOf(planner), switches, [{ question: 'My own?', reasoning: '', plan: { modelIds: [0], subtasks: ['x'], accessList: [[]] } }])).messages.map(({ content }) => content).join('\n');
    };
    expect(text('')).toContain('EXAMPLE 1');
    expect(text('+examples=none')).not.toContain('EXAMPLE 1');
    expect(text('+examples=in')).toContain('noble gas');
    expect(text('+examples=out')).toContain('landlord');
    expect(text('+examples=own')).toContain('My own?');
    const paper = text('+prompt=paper');
    expect(paper).toContain('AVAILABLE LANGUAGE MODELS: Model id 0, Model id 1');
    expect(paper).not.toContain('good at counting');
    expect(() => profileWith(profileOf({ provider: 'local', promptProfile: 'mini' }), { examples: 'none', paperPrompt: false }, undefined)).toThrow('has no examples');
  });

  it('are read with their numbers, and refused by name', () => {
    const read = (text: string) => readConductor(text, { rounds: 1, attempts: 1 });
    expect(read('gpt/base+rounds=2+vague')).toMatchObject({ id: 'gpt', isBase: true, switches: { rounds: 2, ablations: ['vague'] } });
    expect(switchWords(read('gpt+pool=2+examples=none').switches)).toBe(', no examples, 2 drawn workers');
    expect(() => read('gpt+vauge')).toThrow('There is no switch "+vauge"');
    expect(() => read('gpt+rounds=0')).toThrow('from 1 to 6');
    expect(() => read('gpt+rounds=2+attempts=2')).toThrow('Choose one');
    expect(() => read('gpt/adapter')).toThrow('is not known');
    for (const name of SWITCH_NAMES) expect(() => read(`gpt+${name.replace('N', '2')}`), name).not.toThrow();
  });
});
