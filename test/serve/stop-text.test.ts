import { describe, expect, it } from 'vitest';
import { StopText } from '../../backend/serve/stop-text.ts';

const said = (stops: string[], pieces: string[]): [string, string | undefined, string[]] => {
  const text = new StopText(stops);
  const told = [...pieces.map((piece) => text.take(piece)), text.rest()];
  expect(told.join('')).toBe(text.text);
  return [text.text, text.stoppedAt, told];
};

describe('stop sequences', () => {
  it('end the text before the first of them, however it is cut into pieces', () => {
    for (let cut = 0; cut <= 9; cut += 1) expect(said(['END', 'ND'], ['one END two'.slice(0, cut), 'one END two'.slice(cut)]).slice(0, 2)).toEqual(['one ', 'END']);
    expect(said(['b', 'a'], [...'xxab']).slice(0, 2)).toEqual(['xx', 'a']);
  });

  it('hold back only what one begins with', () => {
    expect(said(['END'], ['so E', 'asy EN'])).toEqual(['so Easy EN', undefined, ['so ', 'Easy ', 'EN']]);
    expect(said([], ['all', ' of it'])).toEqual(['all of it', undefined, ['all', ' of it', '']]);
  });
});
