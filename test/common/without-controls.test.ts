import { expect, it } from 'vitest';
import { withoutControls } from '../../backend/common/without-controls.ts';

it.each([
  ['\u001B[31mred\u001B[0m and \u001B[1;4mmore\u001B[m', 'red and more'],
  ['\u001B]0;a title\u0007text', 'text'],
  ['\u001B]8;;https://example.com\u001B\\link\u001B]8;;\u001B\\ on', 'link on'],
  ['a [1] (b) ] c', 'a [1] (b) ] c'],
  ['before \u001B]no end', 'before ]no end'],
  ['\u001B\u001B]]x', ']]x'],
])('takes sequences for terminals out of %j', (text, plain) => {
  expect(withoutControls(text)).toBe(plain);
});

it.each(['\u001B]', '\u001B', '\u001B]0;', '\u001B[', '\u001B]x\u0007', '\u009B'])('goes through many of %j once', (sequence) => {
  expect(withoutControls(`${sequence.repeat(300_000)}end`)).toMatch(/nd$/);
});
