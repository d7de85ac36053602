import { describe, expect, it } from 'vitest';
import { fitSuggestion, isComplete } from '../../../extension/suggest/fit-suggestion.ts';
import { gapAt } from './gap-at.ts';

describe('a suggestion of one line', () => {
  it('ends with the line', () => {
    expect(fitSuggestion('a + b;\n}\n', gapAt('return |'))).toEqual({ text: 'a + b;', replaces: 0 });
  });

  it('is nothing where there is nothing to read', () => {
    expect(fitSuggestion('', gapAt('return |'))).toBeUndefined();
    expect(fitSuggestion('  \n', gapAt('return |'))).toBeUndefined();
    expect(fitSuggestion('\nnext();', gapAt('return 1;|'))).toBeUndefined();
  });

  it('takes the place of brackets that the editor had closed, where it closes them itself', () => {
    expect(fitSuggestion('a, b);', gapAt('call(|)'))).toEqual({ text: 'a, b);', replaces: 1 });
    expect(fitSuggestion('[1, [2]]);', gapAt('call(|)'))).toEqual({ text: '[1, [2]]);', replaces: 1 });
  });

  it('leaves them where it does not', () => {
    expect(fitSuggestion('a, b', gapAt('call(|)'))).toEqual({ text: 'a, b', replaces: 0 });
  });

  it('stops where the line goes on with the same', () => {
    expect(fitSuggestion('b) + rest;', gapAt('call(a, |) + rest;'))).toEqual({ text: 'b', replaces: 0 });
  });

  it('does not repeat the next line', () => {
    expect(fitSuggestion('return a;', gapAt('  |\n  return a;\n'))).toBeUndefined();
  });
});

describe('a suggestion of several lines', () => {
  it('ends with its block, whose end belongs to it', () => {
    const gap = gapAt('  if (a) {|\n', true);
    expect(fitSuggestion('\n    b();\n  }\n  c();\n}\n', gap)?.text).toBe('\n    b();\n  }');
  });

  it('leaves out the end of the block where that stands below already', () => {
    const gap = gapAt('function f() {\n  |\n}\n', true);
    expect(fitSuggestion('a();\n\n  b();\n}\n\nfunction g() {', gap)?.text).toBe('a();\n\n  b();');
    expect(fitSuggestion('\n  a();\n}\n', gapAt('function f() {|\n}\n', true))?.text).toBe('\n  a();');
  });

  it('goes on with the block that an empty line is in', () => {
    expect(fitSuggestion('a();\n  b();\n  c();\n', gapAt('{\n  |\n', true))?.text).toBe('a();\n  b();\n  c();');
  });

  it('has an end', () => {
    const text = fitSuggestion('a();\n'.repeat(100), gapAt('|\n', true))?.text ?? '';
    expect(text.split('\n')).toHaveLength(30);
  });

  it('is one line in the middle of a line', () => {
    expect(fitSuggestion('a;\nb;', gapAt('return | + c;', true))?.text).toBe('a;');
  });

  it('reads the line ends of every system', () => {
    expect(fitSuggestion('\r\n  a();\r\n}', gapAt('function f() {|\r\n', true))?.text).toBe('\n  a();\n}');
  });
});

describe('a text that streams', () => {
  it('is complete with its line where a line is wanted', () => {
    expect(isComplete('a + b', gapAt('return |'))).toBe(false);
    expect(isComplete('a + b;\n', gapAt('return |'))).toBe(true);
  });

  it('is complete with the end of its block, or with what comes after it', () => {
    const opening = gapAt('  if (a) {|\n', true);
    expect(isComplete('\n    b();\n  }', opening)).toBe(false);
    expect(isComplete('\n    b();\n  }\n', opening)).toBe(true);
    const inside = gapAt('  {\n    |\n  }\n', true);
    expect(isComplete('a();\n    b();\n', inside)).toBe(false);
    expect(isComplete('a();\n    b();\n  }\n', inside)).toBe(true);
  });
});
