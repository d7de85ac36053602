import { describe, expect, it } from 'vitest';
import { parsePlan } from '../../backend/conductor/parse-plan.ts';
import type { PlanGrammarOptions } from '../../backend/conductor/plan-grammar.ts';
import { planRegex } from '../../backend/conductor/plan-regex.ts';
import { renderPlan } from '../../backend/conductor/render-plan.ts';
import { KeyedRandom } from '../../backend/common/keyed-random.ts';

/** What could lead a reader of plans astray, where a set of characters lets it stand. */
const CHARACTERS = [...'abyzAZ059_ ,.:;=\'`*#(){}"\\[]<>/\n\t\r', 'é', '漢', '😀', '\u00a0', '\u2028', '“'];

/** A text that a regular expression of groups, choices, sets, `*`, `?` and `{0,n}` matches, drawn at random. */
function drawn(regex: string, draw: () => number): string {
  let at = 0;
  const below = (count: number): number => Math.floor(draw() * count);
  const alternatives = (): (() => string) => {
    const each = [sequence()];
    while (regex[at] === '|') {
      at += 1;
      each.push(sequence());
    }
    return () => (each[below(each.length)] as () => string)();
  };
  const sequence = (): (() => string) => {
    const parts: (() => string)[] = [];
    while (at < regex.length && regex[at] !== '|' && regex[at] !== ')') parts.push(repeated(atom()));
    return () => parts.map((part) => part()).join('');
  };
  const repeated = (part: () => string): (() => string) => {
    const [all, most] = /^(?:\*|\?|\{0,(\d+)\})/.exec(regex.slice(at)) ?? [];
    if (all === undefined) return part;
    at += all.length;
    const counts = all === '*' ? 12 : all === '?' ? 1 : Number(most);
    return () => Array.from({ length: below(counts + 1) }, part).join('');
  };
  const atom = (): (() => string) => {
    if (regex[at] === '(') {
      at += 1;
      const inner = alternatives();
      at += 1;
      return inner;
    }
    if (regex[at] === '[') {
      const [set] = /^\[(?:\\.|[^\]\\])*\]/.exec(regex.slice(at)) as unknown as [string];
      at += set.length;
      const fits = CHARACTERS.filter((character) => new RegExp(`^${set}$`, 'u').test(character));
      return () => fits[below(fits.length)] as string;
    }
    const literal = regex[at] === '\\' ? regex.slice(at, (at += 2)) : regex.slice(at, (at += 1));
    const text = literal === '\\n' ? '\n' : literal.at(-1) as string;
    return () => text;
  };
  return alternatives()();
}

describe('every text of the regular expression is a plan', () => {
  const cases: [string, PlanGrammarOptions][] = [
    ['of one worker', { workers: 1, revision: false }],
    ['of three workers', { workers: 3, revision: false }],
    ['of twelve workers', { workers: 12, revision: false }],
    ['of at most two steps', { workers: 3, revision: false, maximumSteps: 2 }],
    ['in a revision', { workers: 3, revision: true }],
  ];
  it.each(cases)('%s', (_name, options) => {
    const regex = planRegex(options);
    const random = new KeyedRandom('plan regex', options.workers);
    let draws = 0;
    const seen = new Set<string>();
    for (let turn = 0; turn < 400; turn += 1) {
      const text = drawn(regex, () => random.unit(String((draws += 1))));
      expect(text).toMatch(new RegExp(`^(?:${regex})$`, 'u'));
      const parsed = parsePlan(`Let me think.${text}`, { workerCount: options.workers, round: options.revision ? 1 : 0 });
      if (parsed.kind === 'rejected') expect.fail(`${parsed.rejection.message} ${JSON.stringify(text)}`);
      seen.add(parsed.kind === 'plan' ? String(parsed.plan.modelIds.length) : parsed.kind);
      if (parsed.kind === 'plan') expect(text.endsWith(renderPlan({ ...parsed.plan, subtasks: [] }).split('\n')[2] as string)).toBe(true);
    }
    const counts = Array.from({ length: options.maximumSteps ?? 5 }, (_, index) => String(index + 1));
    expect([...seen].sort()).toEqual([...counts, ...(options.revision ? ['keep'] : [])]);
  });
});

it('takes the plans that Conductors write, with and without reasoning, and no others', () => {
  const regex = new RegExp(`^(?:${planRegex({ workers: 3, revision: false })})$`, 'u');
  const plan = renderPlan({ modelIds: [2, 0], subtasks: ['Say "why", then: list = none.', 'Write it\nwhole.'], accessList: [[], 'all'] });
  expect(plan).toMatch(regex);
  expect(` The cause first, in two steps (2 and 0).\n\n${plan}`).toMatch(regex);
  for (const wrong of [`read${plan}`, `<think>${plan}`, plan.replace('[2, 0]', '[3, 0]'), plan.replace('model_id = [2, 0]', 'model_id = [2]'), `${plan}\n`, '']) expect(wrong).not.toMatch(regex);
});
