import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePlan, type ParsedPlan } from '../../backend/conductor/parse-plan.ts';
import { renderPlan } from '../../backend/conductor/render-plan.ts';
import type { Access, Plan } from '../../backend/workflow/plan.ts';

const parse = (text: string, options: { round?: number; truncated?: boolean; workerCount?: number } = {}): ParsedPlan =>
  parsePlan(text, { workerCount: options.workerCount ?? 3, round: options.round ?? 0, truncated: options.truncated ?? false });

const PLAN: Plan = { modelIds: [2, 0], subtasks: ['Find the bug.', 'Fix it.'], accessList: [[], 'all'] };
const message = (parsed: ParsedPlan): string => (parsed.kind === 'rejected' ? parsed.rejection.message : parsed.kind);
const reason = (parsed: ParsedPlan): string => (parsed.kind === 'rejected' ? parsed.rejection.reason : parsed.kind);

describe('a plan is read', () => {
  const lists = 'model_id = [2, 0]\nsubtasks = ["Find the bug.", "Fix it."]\naccess_list = [[], ["all"]]';
  const accepted: Record<string, string> = {
    'as the paper writes it': `First I think.\n\n${lists}`,
    'with a bare "all"': lists.replace('["all"]', '"all"'),
    'with an unquoted all': lists.replace('["all"]', 'all'),
    'with all among positions': lists.replace('["all"]', '[0, "all"]'),
    'with numeric strings for workers': lists.replace('[2, 0]', '["2", \'0\']'),
    'with other names of the lists': lists.replace('model_id', 'Model IDs').replace('subtasks', 'Subtask').replace('access_list', 'ACCESS'),
    'with spaces in the names': lists.replace('model_id', 'model id').replace('access_list', 'access list'),
    'with colons': lists.replaceAll(' =', ':'),
    'with bullets and bold labels': lists.replace(/^(\w+) =/gm, '- **$1**:'),
    'with backticks around labels': lists.replace(/^(\w+) =/gm, '`$1` ='),
    'inside a fence': `\`\`\`python\n${lists}\n\`\`\``,
    'with a fence after each label': lists.replace(/= (.*)$/gm, '=\n```python\n$1\n```'),
    'as a JSON object': '{"model_id": [2, 0], "subtasks": ["Find the bug.", "Fix it."], "access_list": [[], ["all"]]}',
    'with curly quotes': lists.replace('"Find the bug."', '“Find the bug.”').replace('"Fix it."', '‘Fix it.’'),
    'with single quotes': lists.replace('"Find the bug."', "'Find the bug.'"),
    'with triple quotes': lists.replace('"Find the bug."', '"""Find the bug."""'),
    'with strings side by side': lists.replace('"Find the bug."', '"Find " "the bug."'),
    'over several lines with comments and trailing commas':
      'model_id = [\n  2,  # a [strong] one\n  0,\n]\nsubtasks = [\n  "Find the bug.",\n  "Fix it.",\n]\naccess_list = [[], ["all"],]',
    'with tuples for lists inside': lists.replace('["all"]', '("all",)'),
    'after a block of thinking that holds another plan': `<think>model_id = [1] subtasks = ["x"] access_list = [[]]</think>${lists}`,
    'after thinking that the template opened': `model_id = [1]\nsubtasks = ["x"]</think>\n${lists}`,
    'in another order': 'access_list = [[], ["all"]]\nsubtasks = ["Find the bug.", "Fix it."]\nmodel_id = [2, 0]',
    'with talk of the labels before': `I will give the model_id: list later, and access: all for the last.\n${lists}`,
    'the first of two': `${lists}\nmodel_id = [1]\nsubtasks = ["other"]\naccess_list = [[]]`,
  };
  for (const [how, text] of Object.entries(accepted)) {
    it(how, () => expect(parse(text)).toEqual({ kind: 'plan', plan: PLAN }));
  }

  it('with quotes inside a string that were not escaped', () => {
    const text = 'model_id = [0]\nsubtasks = ["Say "hello" to them"]\naccess_list = [[]]';
    expect(parse(text)).toMatchObject({ plan: { subtasks: ['Say "hello" to them'] } });
  });

  it('with subtasks that were not quoted', () => {
    const text = 'model_id = [0, 1]\nsubtasks = [Write the function, Check it]\naccess_list = [[], [0]]';
    expect(parse(text)).toMatchObject({ plan: { subtasks: ['Write the function', 'Check it'], accessList: [[], [0]] } });
  });

  it('with apostrophes inside curly single quotes', () => {
    const text = 'model_id = [0]\nsubtasks = [‘Don’t stop’]\naccess_list = [[]]';
    expect(parse(text)).toMatchObject({ plan: { subtasks: ['Don’t stop'] } });
  });

  it('with a subtask that speaks of the other lists', () => {
    const plan: Plan = { modelIds: [1], subtasks: ['write access_list = [[0]] and model_id = [7]'], accessList: [[]] };
    expect(parse(renderPlan(plan))).toEqual({ kind: 'plan', plan });
  });
});

describe('a text that is no plan is rejected with the name of the rule', () => {
  const lists = (models: string, subtasks: string, access: string): string =>
    `model_id = ${models}\nsubtasks = ${subtasks}\naccess_list = ${access}`;
  const cases: [string, string, string][] = [
    ['missing-list', 'nothing at all', 'I would ask the second worker.'],
    ['missing-list', 'one list missing', 'model_id = [0]\nsubtasks = ["a"]'],
    ['missing-list', 'a plan inside thinking that never ends', `<think>${lists('[0]', '["a"]', '[[]]')}`],
    ['malformed-list', 'a bracket that is never closed', lists('[0', '["a"', '[[]')],
    ['no-steps', 'three empty lists in the first round', lists('[]', '[]', '[]')],
    ['unequal-lengths', 'lists of unequal length', lists('[0, 1]', '["a"]', '[[]]')],
    ['unknown-worker', 'worker 99', lists('[99]', '["a"]', '[[]]')],
    ['unknown-worker', 'a negative worker', lists('[-1]', '["a"]', '[[]]')],
    ['unknown-worker', 'a worker by name', lists('["gpt"]', '["a"]', '[[]]')],
    ['unknown-worker', 'half a worker', lists('[0.5]', '["a"]', '[[]]')],
    ['too-many-steps', 'six steps', lists('[0,0,0,0,0,0]', '["a","b","c","d","e","f"]', '[[],[],[],[],[],[]]')],
    ['malformed-subtask', 'an empty subtask', lists('[0]', '["  "]', '[[]]')],
    ['malformed-subtask', 'a number for a subtask', lists('[0]', '[3]', '[[]]')],
    ['malformed-access', 'a number for an access list', lists('[0, 1]', '["a", "b"]', '[[], 0]')],
    ['malformed-access', 'words in an access list', lists('[0, 1]', '["a", "b"]', '[[], ["first"]]')],
    ['forward-reference', 'a step that reads a later one', lists('[0, 1]', '["a", "b"]', '[[1], []]')],
    ['forward-reference', 'a step that reads itself', lists('[0]', '["a"]', '[[0]]')],
  ];
  for (const [expected, what, text] of cases) it(`${expected}: ${what}`, () => expect(reason(parse(text))).toBe(expected));

  it('truncated: lists that were cut off', () => {
    expect(reason(parse('model_id = [0]\nsubtasks = ["a', { truncated: true }))).toBe('truncated');
  });
});

describe('in a later round', () => {
  it('three explicit empty lists keep the answer', () => {
    expect(parse('model_id = []\nsubtasks = []\naccess_list = []', { round: 1 })).toEqual({ kind: 'keep' });
  });
  it('missing lists do not', () => expect(reason(parse('It is fine as it is.', { round: 1 }))).toBe('missing-list'));
  it('one empty list among three does not', () => {
    expect(reason(parse('model_id = []\nsubtasks = ["a"]\naccess_list = []', { round: 1 }))).toBe('unequal-lengths');
  });
});

const accessFor = (index: number): fc.Arbitrary<Access> =>
  fc.oneof(fc.constant('all' as const), fc.uniqueArray(fc.nat({ max: Math.max(0, index - 1) }), { maxLength: index }));

const plans: fc.Arbitrary<Plan> = fc.integer({ min: 1, max: 5 }).chain((length) =>
  fc.record({
    modelIds: fc.array(fc.nat({ max: 2 }), { minLength: length, maxLength: length }),
    subtasks: fc.array(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }).map((text) => text.trim()).filter((text) => text !== ''),
      { minLength: length, maxLength: length },
    ),
    accessList: fc.tuple(...Array.from({ length }, (_, index) => accessFor(index))),
  }));

describe('properties', () => {
  it('every valid plan is read back from its own text', () => {
    fc.assert(
      fc.property(plans, (plan) => {
        expect(parse(renderPlan(plan))).toEqual({ kind: 'plan', plan });
      }),
      { numRuns: 5_000 },
    );
  });

  it('arbitrary text never throws', () => {
    const fragments = fc.constantFrom(
      'model_id', 'subtasks', 'access_list', ' = ', ':', '[', ']', '(', ')', '"', "'", '“', '”', '\\', ',', '#', '\n', '```', 'all',
      '<think>', '</think>', '0', '1', '"all"', 'r"', '\\u12', '"""', '*',
    );
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.array(fragments, { maxLength: 60 }).map((parts) => parts.join('')));
    fc.assert(
      fc.property(text, fc.boolean(), (input, later) => {
        expect(['plan', 'keep', 'rejected']).toContain(parse(input, { round: later ? 1 : 0 }).kind);
      }),
      { numRuns: 100_000 },
    );
  });

  // Each of these is quadratic or worse for a reader that goes back; the suite's time limit is the bound.
  it.each([
    '<think>', '</think>', 'model_id=[', 'model_id = ["', '[', '"', '\\', 'subtasks: [“', '#', ' ', 'access ', '\'\'\'', '[(', '"" ',
  ])('two million characters of %j end soon', (piece) => {
    expect(parse(piece.repeat(Math.ceil(2_000_000 / piece.length))).kind).toBe('rejected');
  });
});

describe('thinking is not part of the plan', () => {
  const lists = 'model_id = [2, 0]\nsubtasks = ["Find the bug.", "Fix it."]\naccess_list = [[], ["all"]]';
  const other = 'model_id = [1]\nsubtasks = ["x"]\naccess_list = [[]]';

  it('text before a block counts', () => expect(parse(`${lists}<think>${other}</think>`)).toEqual({ kind: 'plan', plan: PLAN }));

  it('text between two blocks counts', () =>
    expect(parse(`<think>${other}</think>${lists}<think>${other}</think>`)).toEqual({ kind: 'plan', plan: PLAN }));

  it('text after an unclosed tag does not count', () => expect(reason(parse(`Well.<think>${lists}`))).toBe('missing-list'));

  it('text before an unopened closing tag does not count, even after another block', () =>
    expect(parse(`${other}<think>a</think>b</think>${lists}`)).toEqual({ kind: 'plan', plan: PLAN }));

  it('a block separates words', () => expect(reason(parse(`sub<think>a</think>${lists.replace('subtasks', 'tasks')}`))).toBe('missing-list'));
});

describe('a text is read within bounds', () => {
  const lists = 'model_id = [2, 0]\nsubtasks = ["Find the bug.", "Fix it."]\naccess_list = [[], ["all"]]';

  it('of length', () => {
    const room = 200_000 - lists.length;
    expect(parse('x'.repeat(room - 1) + '\n' + lists).kind).toBe('plan');
    expect(reason(parse('x'.repeat(room) + '\n' + lists))).not.toBe('plan');
  });

  it('of failed lists', () => {
    expect(parse('model_id = [}\n'.repeat(11) + lists).kind).toBe('plan');
    expect(reason(parse('model_id = [}\n'.repeat(12) + lists))).toBe('malformed-list');
  });
});

describe('a rejection says how to correct the plan', () => {
  it('names the lists that are missing', () =>
    expect(message(parse('model_id = [0]'))).toBe('The text lacks subtasks, access_list: a plan is the three lists model_id, subtasks and access_list.'));

  it('names the lists that are not complete', () =>
    expect(message(parse('model_id = [}\nsubtasks = [}'))).toBe('model_id, subtasks is not a complete list: close every bracket and quote.'));

  it('names what a text that was cut off lacks', () => expect(message(parse('model_id = [0]\nsubtasks = ["a"', { truncated: true }))).toBe(
    'The text was cut off before the plan was complete; missing: subtasks, access_list. Reason more briefly.',
  ));
});
