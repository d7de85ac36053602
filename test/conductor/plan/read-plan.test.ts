import { describe, expect, it } from 'vitest';
import { readPlan } from '../../../backend/conductor/plan/read-plan.ts';
import { PROMPT_PROFILES } from '../../../backend/conductor/prompt-profile.ts';
import { renderPlan } from '../../../backend/conductor/render-plan.ts';
import type { PlanMend } from '../../../backend/protocol/plan-mend.ts';
import type { Access, Plan } from '../../../backend/workflow/plan.ts';

const plan = (...steps: readonly (readonly [worker: number, subtask: string, access?: Access])[]): Plan => ({
  modelIds: steps.map(([worker]) => worker), subtasks: steps.map(([, subtask]) => subtask), accessList: steps.map(([, , access = []]) => access),
});
const read = (written: Plan, question: string, { mini = false, mayAskAgain = true, round = 0 } = {}) => readPlan(renderPlan(written), {
  workerCount: 4, round, question, mayAskAgain, profile: mini ? PROMPT_PROFILES.mini : PROMPT_PROFILES.standard,
});
const EXPLAIN = 'Explain what parse_float does when the text has underscores, an exponent or a sign, and where its result is used in the rest of the parser.';
const ADD = 'Add a dumps function that writes TOML.';

describe('a plan of conductor-mini', () => {
  const BUG_HUNT = plan([0, 'Find the wrong line and write a short plan. No code.'], [2, 'Apply the plan you are shown and return the corrected file.', [0]], [1, 'Review it for edge cases and return the final file.', [1]]);

  it('keeps who does what and reads whom, and gets the words of the question', () => {
    const found = read(BUG_HUNT, ADD, { mini: true });
    expect(found).toMatchObject({ kind: 'plan', plan: { modelIds: [0, 2, 1], accessList: [[], [0], [1]] } });
    const words = found.kind === 'plan' ? found.plan.subtasks : [];
    expect(words.join(' ')).not.toMatch(/wrong|corrected/);
    expect(words[0]).toContain('dumps');
    expect(words[2]).toMatch(/Return every changed file whole/);
  });

  it('has one step for small talk and for a short question, by whoever would have answered', () => {
    for (const question of ['thanks, that works', 'Explain what parse_float does.']) {
      expect(read(BUG_HUNT, question, { mini: true })).toMatchObject({ plan: { modelIds: [2], accessList: [[]] } });
    }
  });

  it('has notes and an answer for a long question that wants words', () => {
    expect(read(BUG_HUNT, EXPLAIN, { mini: true })).toMatchObject({ plan: { modelIds: [0, 2], accessList: [[], [0]] } });
  });

  it('may take five steps again where an answer failed', () => {
    const five = plan([0, 'Find the bug and write a short plan.'], [1, 'Write the fix as the plan says.', [0]], [2, 'Check it.', [1]], [1, 'Write the fix from the notes of your colleagues.', [0, 2]], [3, 'Review it and return the final file.', [3]]);
    expect(read(five, 'rename foo', { mini: true, round: 1 })).toMatchObject({ plan: { modelIds: [0, 1, 2, 1, 3] } });
  });

  it.each([
    ['gives a check the work', plan([0, 'Write the code.'], [1, 'Check the code.']), [[], [0]]],
    ['gives a plan to who writes', plan([0, 'Work out the rules and outline the change.'], [1, 'Implement it and return the file.']), [[], [0]]],
    ['leaves out notes after the answer', plan([0, 'Write the code.'], [1, 'Plan the work.', 'all']), [[]]],
    ['lets somebody write where all only plan', plan([0, 'Plan the work.'], [1, 'Plan the work.']), [[], [0]]],
    ['leaves out an attempt that nobody compares', plan([0, 'Write the code.'], [1, 'Write the code.']), [[]]],
  ] as const)('%s', (_what, written, accessList) => {
    expect(read(written, ADD, { mini: true })).toMatchObject({ kind: 'plan', plan: { accessList } });
  });
});

describe('a plan of a Conductor that was told how to plan', () => {
  it.each([
    "Completions modify os.Args\n\nI'm trying to workaround #1877 by inspecting os.Args by hand. In some cases cobra accidentally inserts `--` into os.Args.\nIt prints `__complete, --` instead of `__complete, x`.",
    'Adding a key to an out-of-order table writes the table header twice',
    'fish completion: args with spaces are split into several words',
    'chi: Route pattern with a regexp containing a slash never matches',
    'I set Timeout to 0 and expected no timeout. It uses 30 seconds.',
    "The docs say retry_with returns a copy, but the original function's statistics change too.",
    'Cannot use `--` with DisableFlagParsing: it shows up in args',
  ])('may look for a fault where a report tells only what happens: %s', (report) => {
    const written = plan([0, 'Find where the code does this and mend the fault. Return the changed code.']);
    expect(read(written, report)).toEqual({ kind: 'plan', plan: written });
  });

  const GOOD: readonly (readonly [string, Plan])[] = [
    [ADD, plan([0, 'Work out how dumps has to treat each type of value; list the cases with the expected text.'], [1, 'Implement dumps for the cases you are shown and return the changed files.', [0]], [2, 'Check the implementation against the cases, correct what is wrong and return the final files.', 'all'])],
    [EXPLAIN, plan([1, 'Explain parse_float: underscores, exponents, signs, and who calls it. Quote the lines.'])],
    ['Erkläre mir bitte, was parseFloat hier macht.', plan([0, 'Erkläre, was parseFloat mit Unterstrichen und Vorzeichen macht, und nenne die Zeilen.'])],
    ['修复 calculateTotal 的空购物车错误', plan([0, '找出 calculateTotal 出错的原因。'], [1, '修复它并返回整个文件。', [0]])],
    ['parseArgs crashes on empty input', plan([0, 'Find the cause in parseArgs.'], [1, 'Fix it as the diagnosis says and return the file.', [0]])],
    ['Исправь ошибку в calculateTotal', plan([0, 'Исправь calculateTotal и верни весь файл.'])],
    ['Review src/auth.ts', plan([0, 'Find bugs and security problems in src/auth.ts; report each with its line and a remedy.'])],
    ['thanks, that works', plan([0, 'Answer kindly in one sentence.'])],
    ['Write tests for mergeIntervals', plan([0, 'Write tests for mergeIntervals that catch errors at touching and empty intervals; return the test file.'])],
    ['How do I read a file line by line in Go?', plan([0, 'Show the idiomatic way with bufio.Scanner, give the code and mention long lines.'])],
  ];

  it.each(GOOD)('stays as it is where it makes sense: %s', (question, written) => {
    expect(read(written, question)).toEqual({ kind: 'plan', plan: written });
  });

  const BAD: readonly (readonly [what: string, question: string, written: Plan, told: RegExp, mended: PlanMend])[] = [
    ['two steps for small talk', 'thanks, that works', plan([0, 'Outline a reply.'], [1, 'Write the reply from the outline.', [0]]), /one step is enough/, { wrong: [{ rule: 'steps' }], written: 2, reworded: [0], rewired: [] }],
    ['a fault that nobody reported', ADD, plan([0, 'Find the wrong line and write a short plan.'], [1, 'Write the dumps function as the plan says.', [0]]), /sends its worker after a fault, and the question reports none/, { wrong: [{ rule: 'fault', step: 0 }], written: 2, reworded: [0], rewired: [] }],
    ['files where words were asked for', EXPLAIN, plan([0, 'Refactor parse_float and return the whole file.']), /asks for code or files, and the question asks for an answer in words/, { wrong: [{ rule: 'last', step: 0 }], written: 1, reworded: [0], rewired: [] }],
    ['words where a change was asked for', ADD, plan([0, 'Implement dumps and return the changed files.'], [1, 'Explain what the change does.', [0]]), /returns words, and the question asks for a change/, { wrong: [{ rule: 'last', step: 1 }], written: 2, reworded: [0], rewired: [] }],
    ['work that is not shown', ADD, plan([0, 'Plan dumps.'], [1, 'Implement dumps as the plan says and return the files.']), /is shown none/, { wrong: [{ rule: 'unread', step: 0 }, { rule: 'unseen', step: 1 }], written: 2, reworded: [], rewired: [1] }],
    ['a step that nobody reads', ADD, plan([0, 'Implement dumps and return the files.'], [1, 'Implement dumps in another way and return the files.']), /No later step may read step 0/, { wrong: [{ rule: 'unread', step: 0 }], written: 2, reworded: [0], rewired: [] }],
    ['the same step twice', ADD, plan([0, 'Implement dumps.'], [0, 'Implement dumps.'], [1, 'Compare the attempts and return the best one.', 'all']), /is the same as step 0/, { wrong: [{ rule: 'repeated', step: 1 }], written: 3, reworded: [0, 1], rewired: [] }],
  ];

  it.each(BAD)('is sent back once, with the reason: %s', (_what, question, written, told) => {
    expect(read(written, question)).toMatchObject({ kind: 'rejected', rejection: { reason: 'senseless', message: expect.stringMatching(told) as string } });
  });

  it.each(BAD)('becomes the nearest plan that makes sense the second time: %s', (_what, question, written, _told, mended) => {
    const found = read(written, question, { mayAskAgain: false });
    expect(found).toMatchObject({ kind: 'plan', mended });
    if (found.kind === 'plan') expect(read(found.plan, question)).toEqual({ kind: 'plan', plan: found.plan });
  });

  it('keeps the words of steps that nothing speaks against', () => {
    const found = read(plan([0, 'Plan dumps, type by type.'], [1, 'Implement dumps as the plan says and return the files.']), ADD, { mayAskAgain: false });
    expect(found).toMatchObject({ plan: plan([0, 'Plan dumps, type by type.'], [1, 'Implement dumps as the plan says and return the files.', [0]]) });
  });

  it('may speak of the last round where it is shown', () => {
    expect(read(plan([0, 'Fix dumps with the previous attempt and its failing test in view; return the files.', 'all']), ADD, { round: 1 }).kind).toBe('plan');
  });

  it('keeps an answer, and is told where it is no plan at all', () => {
    expect(read(plan(), ADD, { round: 1 })).toEqual({ kind: 'keep' });
    expect(readPlan('No lists.', { workerCount: 1, round: 0, question: ADD, mayAskAgain: false, profile: PROMPT_PROFILES.standard })).toMatchObject({ kind: 'rejected', rejection: { reason: 'missing-list' } });
  });
});
