import { describe, expect, it } from 'vitest';
import { plainCode, suggestionPrompt } from '../../backend/suggest/suggestion-prompt.ts';

const before = 'const greeting = ';

describe('a suggestion as far as it has come', () => {
  it.each(['`', '``', '```', '```ts', '  ```ts'])('is held back where it may become a fence: %j', (text) => {
    expect(plainCode(text, { before })).toBe('');
  });

  it('is what stands inside its fence', () => {
    expect(plainCode('```ts\none();', { before })).toBe('one();');
    expect(plainCode('```ts\none();\n```', { before })).toBe('one();');
  });

  it.each(['`hello ${name}`;', '`h', '``;', '`a`\n'])('may begin with a backtick: %j', (text) => {
    expect(plainCode(text, { before })).toBe(text);
  });

  it('does not begin the line again', () => {
    expect(plainCode('const greeting = `hello`;', { before })).toBe('`hello`;');
  });
});

describe('the text of a long file', () => {
  const place = { path: 'a.ts', language: 'typescript', after: '', multiline: false };
  const line = 'const value = readSetting("the name of a setting");\n';
  const sent = (text: string): string => suggestionPrompt({ ...place, before: text })?.fillIn.before ?? '';

  it('begins at the same place while more is typed, for a server that keeps what it has read', () => {
    let text = line.repeat(300);
    let kept = 0;
    let before = sent(text);
    for (let typed = 0; typed < 600; typed += 1) {
      text += 'x';
      const now = sent(text);
      if (now.startsWith(before)) kept += 1;
      before = now;
    }
    expect(kept).toBeGreaterThanOrEqual(599);
  });

  it('is the beginning of a line and most of what may be sent', () => {
    for (let lines = 1; lines < 400; lines += 7) {
      const text = line.repeat(lines);
      expect(text.endsWith(sent(text))).toBe(true);
      expect(sent(text).startsWith('const')).toBe(true);
      expect(sent(text).length).toBeLessThanOrEqual(6_000);
      expect(sent(text).length).toBeGreaterThan(Math.min(text.length, 4_400) - 1);
    }
  });
});
