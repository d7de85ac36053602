import { expect, it } from 'vitest';
import { isWorthAsking, wantsLines } from '../../../extension/suggest/gap.ts';

const gap = (text: string) => {
  const [before = '', after = ''] = text.split('|');
  return { before, after };
};

it.each([
  ['const a = |', true],
  ['const a = [|];', true],
  ['call(|)', true],
  ['const va|lue = 1;', false],
  ['  | return 1;', false],
  ['   |', false],
])('asks by itself at "%s": %s', (text, expected) => {
  expect(isWorthAsking(gap(text))).toBe(expected);
});

it.each([
  ['function add(a, b) {\n  |\n}', true],
  ['function add(a, b) {|', true],
  ['function add(a, b) {|}', true],
  ['def add(a, b):|', true],
  ['const add = (a, b) =>|', true],
  ['// adds two numbers\n|', true],
  ['const sum = |', false],
  ['// to do: |', false],
  ['  | return 1;', false],
])('wants several lines by itself at "%s": %s', (text, expected) => {
  expect(wantsLines('auto', gap(text))).toBe(expected);
});

it('is told otherwise by the setting, but never in the middle of a line', () => {
  expect(wantsLines('always', gap('const sum = |'))).toBe(true);
  expect(wantsLines('never', gap('function add(a, b) {|'))).toBe(false);
  expect(wantsLines('always', gap('const sum = | + b;'))).toBe(false);
});
