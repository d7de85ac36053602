import { describe, expect, it } from 'vitest';
import { SuggestionCache } from '../../../extension/suggest/suggestion-cache.ts';
import { gapAt } from './gap-at.ts';

describe('the cache', () => {
  it('knows the same place again, and no other', () => {
    const cache = new SuggestionCache();
    cache.put(gapAt('const a = |\n'), 'one();');
    expect(cache.get(gapAt('const a = |\n'))).toBe('one();');
    expect(cache.get(gapAt('const b = |\n'))).toBeUndefined();
    expect(cache.get(gapAt('const a = |\nother();'))).toBeUndefined();
    expect(cache.get({ ...gapAt('const a = |\n'), document: 'file:///other.ts' })).toBeUndefined();
    expect(cache.get(gapAt('const a = |\n', true))).toBeUndefined();
  });

  it('gives the rest of a line out of several lines, and never several out of one', () => {
    const cache = new SuggestionCache();
    cache.put(gapAt('{\n  |\n}', true), 'one();\n  two();');
    expect(cache.get(gapAt('{\n  on|\n}'))).toBe('e();\n  two();');
    cache.put(gapAt('const a = |'), 'one();');
    expect(cache.get(gapAt('const a = |', true))).toBeUndefined();
  });

  it('remembers that nothing belongs somewhere', () => {
    const cache = new SuggestionCache();
    cache.put(gapAt('const a = |'), '');
    expect(cache.get(gapAt('const a = |'))).toBe('');
  });

  it('gives the rest to who types along, and nothing to who types something else', () => {
    const cache = new SuggestionCache();
    cache.put(gapAt('const a = |'), 'one();');
    expect(cache.get(gapAt('const a = on|'))).toBe('e();');
    expect(cache.get(gapAt('const a = ot|'))).toBeUndefined();
  });

  it('gives the rest, too, where the editor has closed a bracket meanwhile', () => {
    const cache = new SuggestionCache();
    cache.put(gapAt('const a = |\n'), 'one(two);');
    expect(cache.get(gapAt('const a = one(|)\n'))).toBe('two);');
  });

  it('gives the rest, too, where the editor has moved a bracket to a line of its own', () => {
    const cache = new SuggestionCache();
    cache.put(gapAt('function f() {|}\nnext();', true), '\n  a();\n}');
    expect(cache.get(gapAt('function f() {\n  |\n}\nnext();', true))).toBe('a();\n}');
  });

  it('has nothing for who has typed a suggestion to its end', () => {
    const cache = new SuggestionCache();
    cache.put(gapAt('const a = |'), 'one();');
    expect(cache.get(gapAt('const a = one();|'))).toBeUndefined();
  });

  it('forgets what was not used for longest', () => {
    const cache = new SuggestionCache();
    cache.put(gapAt('first|'), 'a');
    cache.put(gapAt('second|'), 'b');
    for (let number = 0; number < 199; number += 1) {
      cache.get(gapAt('first|'));
      cache.put(gapAt(`number ${number} |`), 'c');
    }
    expect(cache.get(gapAt('first|'))).toBe('a');
    expect(cache.get(gapAt('second|'))).toBeUndefined();
  });
});
