import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conductorPrompt } from '../../backend/conductor/conductor-prompt.ts';
import { PROMPT_PROFILES } from '../../backend/conductor/prompt-profile.ts';
import { renderPlan } from '../../backend/conductor/render-plan.ts';
import { accepts } from '../../backend/lm/automaton/byte-automaton.ts';
import type { Access, Plan } from '../../backend/workflow/plan.ts';
import { grammar } from './compiled-grammar.ts';

const accessFor = (index: number): fc.Arbitrary<Access> =>
  fc.oneof(fc.constant('all' as const), fc.uniqueArray(fc.nat({ max: Math.max(0, index - 1) }), { maxLength: index }));

/** Subtasks as a parsed plan has them: trimmed, beginning with a character that JSON does not have to write as a number. */
const subtask = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.constantFrom('<thi', '\\d+ "x" \\', 'a\n\t<b>', '[]'),
  )
  .map((text) => text.trim())
  .filter((text) => text !== '' && !JSON.stringify(text).startsWith('"\\u') && !/<\/?think>/i.test(text));

const plansFor = (workers: number): fc.Arbitrary<Plan> =>
  fc.integer({ min: 1, max: 5 }).chain((length) =>
    fc.record({
      modelIds: fc.array(fc.nat({ max: workers - 1 }), { minLength: length, maxLength: length }),
      subtasks: fc.array(subtask, { minLength: length, maxLength: length }),
      accessList: fc.tuple(...Array.from({ length }, (_, index) => accessFor(index))),
    }));

describe('the grammar has every plan as it is rendered', () => {
  it.each([1, 3, 12])('for %i workers, with and without reasoning before it', (workers) => {
    const reasoning = fc.constantFrom(
      '', 'First I think.\n', 'Zuerst “denke” ich… 漢\r\n\n', 'a < b, then </thin>, model_id comes next: ', '```python\n',
    );
    fc.assert(
      fc.property(plansFor(workers), reasoning, fc.boolean(), (plan, before, revision) => {
        expect(accepts(grammar({ workers, revision }), before + renderPlan(plan))).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });

  it('and every example of the prompt, after the opening words and the reasoning', () => {
    for (const { reasoning, plan } of PROMPT_PROFILES.standard.examples) {
      for (const rounds of [[], [{ planText: '', answer: '', feedback: '' }]]) {
        const input = { question: '', context: '', pool: [], rounds };
        const { prefill } = conductorPrompt(input, PROMPT_PROFILES.standard);
        expect(accepts(grammar({ prefill, revision: rounds.length > 0 }), ` ${reasoning}\n${renderPlan(plan)}`)).toBe(true);
      }
    }
  });

  it('where reasoning only speaks of lists', () => {
    const plan = renderPlan({ modelIds: [0], subtasks: ['a'], accessList: [[]] });
    for (const reasoning of [
      'I will give the model_id: list later, and access: all for the last.', 'The table[0] = x[1] and submodel_id = [3].',
      'access [x] is enough', 'the subtasks: (1) this, [2] that', 'model_ids = {0: [1]}', 'modelid', '',
    ]) expect([reasoning, accepts(grammar(), `${reasoning}\n${plan}`)]).toEqual([reasoning, true]);
  });

  it('keeps the answer only in a revision', () => {
    const keep = 'It is fine.\nmodel_id = []\nsubtasks = []\naccess_list = []';
    expect([accepts(grammar({ revision: true }), keep), accepts(grammar(), keep)]).toEqual([true, false]);
  });
});

describe('the grammar does not have', () => {
  const lists = (models: string, subtasks: string, access: string): string =>
    `model_id = ${models}\nsubtasks = ${subtasks}\naccess_list = ${access}`;
  it.each([
    ['a worker outside the pool', lists('[3]', '["a"]', '[[]]')],
    ['lists of unequal length', lists('[0, 1]', '["a"]', '[[]]')],
    ['a sixth step', lists('[0, 0, 0, 0, 0, 0]', '["a", "b", "c", "d", "e", "f"]', '[[], [], [], [], [], []]')],
    ['an empty subtask', lists('[0]', '[""]', '[[]]')],
    ['a subtask of spaces', lists('[0]', '["  "]', '[[]]')],
    ['a subtask of escaped spaces', lists('[0]', '["\\u0020\\n"]', '[[]]')],
    ['a subtask of two lines', lists('[0]', '["a\nb"]', '[[]]')],
    ['a step that reads itself', lists('[0]', '["a"]', '[[0]]')],
    ['an access list that is not closed', lists('[0]', '["a"]', '[[]')],
    ['text after the plan', `${lists('[0]', '["a"]', '[[]]')}\nThat is all.`],
    ['thinking in a subtask', lists('[0]', '["a <think> b"]', '[[]]')],
    ['thinking before the plan', `</THINK>\n${lists('[0]', '["a"]', '[[]]')}`],
    ['another list under one of the labels', `Access: [1]\n${lists('[0]', '["a"]', '[[]]')}`],
    ['a label that continues a word', `_${lists('[0]', '["a"]', '[[]]')}`],
  ])('%s', (_, text) => expect(accepts(grammar(), text)).toBe(false));

  it.each([{ workers: 0 }, { workers: 1.5 }, { maximumSteps: 0 }])('a pool or a plan of nothing: %j', (options) => {
    expect(() => grammar(options)).toThrow(RangeError);
  });
});
