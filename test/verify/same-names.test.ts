import { expect, it } from 'vitest';
import { withNamesOf } from '../../backend/verify/judge/same-names.ts';
import type { TestReport } from '../../backend/verify/runners/test-report.ts';

const report = (...ids: string[]): TestReport => ({ results: ids.map((id) => ({ id, kind: 'test', status: 'passed' })) });
const namesOf = ({ results }: TestReport): string[] => results.map(({ id }) => id);

it.each([
  ['the time of day', 't.py > test_at[13:40:10]', 't.py > test_at[13:40:12]'],
  ['a date with its time', 't.py > test_at[2026-11-28T13:40:10.5+00:00]', 't.py > test_at[2026-11-28T13:40:12.25+00:00]'],
  ['seconds since 1970', 'a.js > at 1795873208', 'a.js > at 1795873216'],
  ['an address', 't.py > test_of[<object at 0x7f3a1c0b2d90>]', 't.py > test_of[<object at 0x7f00aa0b2d10>]'],
  ['an identifier', 'TestOf/6b1f1f0e-3f0b-4c57-9a53-0d2f5f7f5b11', 'TestOf/0d2f5f7f-5b11-4c57-9a53-6b1f1f0e3f0b'],
  ['a random fraction', 't.py > test_of[0.8444218515250481]', 't.py > test_of[0.13436424411240122]'],
  ['a temporary folder', 't.py > test_in[/tmp/tmpab3_x9z1/a.txt]', 't.py > test_in[/var/tmp/k2/temporary/tmpqq3_x9z1/a.txt]'],
])('a test that is named after %s is the same in each run', (_what, then, now) => {
  expect(namesOf(withNamesOf(report('a', then), report(now, 'a')))).toEqual([then, 'a']);
});

it('several are taken in their order', () => {
  expect(namesOf(withNamesOf(report('at[10:00:01]', 'at[x 10:00:01]', 'at[10:00:02]'), report('at[10:00:05]', 'at[x 10:00:05]', 'at[10:00:06]'))))
    .toEqual(['at[10:00:01]', 'at[x 10:00:01]', 'at[10:00:02]']);
});

it('one that failed is taken for no other', () => {
  const before: TestReport = { results: [{ id: 'at[10:00:01]', kind: 'test', status: 'failed' }, { id: 'at[10:00:02]', kind: 'test', status: 'passed' }] };
  expect(namesOf(withNamesOf(before, report('at[10:00:05]', 'at[10:00:06]')))).toEqual(['at[10:00:05]', 'at[10:00:06]']);
});

it.each([
  ['that both runs have', ['at[10:00]', 'at[11:00]'], ['at[11:00]', 'at[10:00]']],
  ['of which one is lost', ['at[10:00:01]', 'at[10:00:02]'], ['at[10:00:05]']],
  ['of another function', ['of[10:00:01]'], ['at[10:00:05]']],
  ['that names a small number or a version', ['code[101]', 'v1.2.3'], ['code[102]', 'v1.2.4']],
])('a test keeps its name %s', (_what, then, now) => {
  expect(namesOf(withNamesOf(report(...then), report(...now)))).toEqual(now);
});
