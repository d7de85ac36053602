import { describe, expect, it } from 'vitest';
import { endpointMessages } from '../../backend/conductor/conductor-prompt.ts';
import type { PromptInput } from '../../backend/conductor/prompt-input.ts';
import { parsePlan, type ParsedPlan } from '../../backend/conductor/parse-plan.ts';
import { PROMPT_PROFILES } from '../../backend/conductor/prompt-profile.ts';
import { answerAsConductor } from '../../backend/simulator/conductor-model.ts';
import { bugOf, questionOf } from '../../backend/simulator/sample-project.ts';
import { WORKERS } from '../../backend/simulator/pool.ts';
import type { Plan } from '../../backend/workflow/plan.ts';
import { contextOf, playRun } from './play.ts';

const pool = WORKERS.map(({ description }) => ({ description }));

function ask(seed: number, change: Partial<PromptInput> = {}): { text: string; parsed: ParsedPlan } {
  const input = {
    question: questionOf(seed),
    context: contextOf(bugOf(seed)),
    pool,
    rounds: [],
    rejection: undefined,
    ...change,
  };
  const text = answerAsConductor(
    { name: 'sim-conductor', seed },
    { messages: endpointMessages(input, PROMPT_PROFILES.standard) },
  );
  return { text, parsed: parsePlan(text, { workerCount: input.pool.length, round: input.rounds.length }) };
}

const seeds = Array.from({ length: 300 }, (_, seed) => seed);

describe('the simulated Conductor', () => {
  const asked = seeds.map((seed) => ask(seed));
  const plans = asked.flatMap(({ parsed }): Plan[] => (parsed.kind === 'plan' ? [parsed.plan] : []));

  it('begins as it was asked to and says that it is simulated', () => {
    for (const { text } of asked) {
      expect(text).toMatch(/^Let me think step by step/);
      expect(text).toContain('Simulated by sim-conductor');
    }
  });

  it("writes plans that the house's parser takes, but for a few", () => {
    const rejected = asked.filter(({ parsed }) => parsed.kind === 'rejected');
    expect(rejected.length).toBeGreaterThan(0);
    expect(rejected.length).toBeLessThan(seeds.length * 0.12);
    const reasons = new Set(rejected.map(({ parsed }) => parsed.kind === 'rejected' && parsed.rejection.reason));
    expect(reasons.size).toBe(3);
  });

  it('writes another text after a rejection', () => {
    const seed = asked.findIndex(({ parsed }) => parsed.kind === 'rejected');
    const rejection = { text: asked[seed]?.text ?? '', message: 'The text lacks access_list.' };
    expect(ask(seed, { rejection }).parsed.kind).toBe('plan');
  });

  it('writes plans of one to four steps and uses every worker', () => {
    expect(new Set(plans.map(({ modelIds }) => modelIds.length))).toEqual(new Set([1, 2, 3, 4]));
    expect(new Set(plans.flatMap(({ modelIds }) => modelIds))).toEqual(new Set([0, 1, 2, 3, 4]));
  });

  it('has no step checked by the worker that wrote it', () => {
    for (const { modelIds } of plans.filter(({ modelIds }) => modelIds.length > 1)) {
      expect(modelIds.at(-1)).not.toBe(modelIds.at(-2));
    }
  });

  it('chooses workers by their descriptions, whatever their order', () => {
    const description = 'Writes exact code for primes and fractions.';
    const alone = (position: number): number[] => {
      const others = Array.from({ length: 3 }, () => ({ description: 'Knows a lot about gardening.' }));
      const roster = [...others.slice(0, position), { description }, ...others.slice(position)];
      return seeds.slice(0, 100).flatMap((seed) => {
        const { parsed } = ask(seed, { question: 'primesUpTo(9) says that 9 is a prime.', pool: roster });
        return parsed.kind === 'plan' && parsed.plan.modelIds.length === 1 ? [...parsed.plan.modelIds] : [];
      });
    };
    expect(new Set(alone(0))).toEqual(new Set([0]));
    expect(new Set(alone(3))).toEqual(new Set([3]));
  });

  it('works with a single worker without a description', () => {
    const kinds = seeds.slice(0, 40).map((seed) => ask(seed, { pool: [{}] }).parsed);
    for (const parsed of kinds) if (parsed.kind === 'plan') expect(new Set(parsed.plan.modelIds)).toEqual(new Set([0]));
    expect(kinds.some(({ kind }) => kind === 'plan')).toBe(true);
  });

  const round = (feedback: string): PromptInput['rounds'] => [{ planText: 'model_id = [0]', answer: 'An answer.', feedback }];

  it('revises after failed tests, with all that happened in view of the first step', () => {
    const { text, parsed } = ask(1, {
      rounds: round("The project's tests do not pass with this answer.\n- test/a.test.js: failed"),
    });
    expect(text).toMatch(/tests/);
    expect(parsed).toMatchObject({ kind: 'plan', plan: { accessList: ['all', 'all', 'all'] } });
  });

  it.each([
    'The tests could not be run. No sandbox.',
    'The project has no test command, so the answer could not be checked.',
    "The project's tests pass.",
  ])('accepts the answer with three empty lists after "%s"', (feedback) => {
    const kinds = seeds.slice(0, 20).map((seed) => ask(seed, { rounds: round(feedback) }).parsed.kind);
    expect(new Set(kinds)).toContain('keep');
    expect(kinds).not.toContain('plan');
  });
});

describe('a run of the demo, played on the models alone', () => {
  const runs = seeds.map(playRun);

  it('ends with correct code in 75 to 90 of 100 runs, and fails in the others', () => {
    const solved = runs.filter((run) => run.solved).length / runs.length;
    expect(solved).toBeGreaterThan(0.75);
    expect(solved).toBeLessThan(0.9);
  });

  it('often needs the second round', () => {
    expect(runs.filter((run) => run.solved && run.rounds === 2).length).toBeGreaterThan(runs.length * 0.1);
  });

  it('meets texts that are no plan, and goes on', () => {
    expect(runs.some((run) => run.rejected > 0 && run.solved)).toBe(true);
  });
});
