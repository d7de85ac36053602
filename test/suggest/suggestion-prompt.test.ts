import { describe, expect, it } from 'vitest';
import { plainCode } from '../../backend/suggest/suggestion-prompt.ts';

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
