import { describe, expect, it } from 'vitest';
import { needsIn } from '../../backend/solve/needs.ts';

describe('a reply that asks for code', () => {
  it.each([
    ['NEED: src/route.go Route.Match', [{ words: ['src/route.go', 'Route.Match'] }]],
    ['NEED: src/route.go:40-90', [{ words: ['src/route.go'], startLine: 40, endLine: 90 }]],
    ['NEED: src/route.go:40', [{ words: ['src/route.go'], startLine: 40, endLine: 40 }]],
    ['NEED: src/route.go#L40-L90', [{ words: ['src/route.go'], startLine: 40, endLine: 90 }]],
    ['NEED: src/route.go lines 40 to 90', [{ words: ['src/route.go'], startLine: 40, endLine: 90 }]],
    ['NEED: src/route.go (lines 40-90)', [{ words: ['src/route.go'], startLine: 40, endLine: 90 }]],
    ['NEED: the function `Route.Match` in `src/route.go`.', [{ words: ['Route.Match', 'src/route.go'] }]],
    ['- NEED: Route.Match\n- NEED: Route::new', [{ words: ['Route.Match'] }, { words: ['Route::new'] }]],
    ['```\nNEED: src/route.go\n```', [{ words: ['src/route.go'] }]],
    ['**NEED: src/route.go**', [{ words: ['src/route.go'] }]],
    ['<think>I do not see it.\nNEED: nothing.go</think>\nNEED: src/route.go', [{ words: ['src/route.go'] }]],
    ['I cannot see Route.Match in what I am shown.\n\nNEED: src/route.go Route.Match\r\n', [{ words: ['src/route.go', 'Route.Match'] }]],
  ])('%j', (reply, needs) => {
    expect(needsIn(reply)).toEqual(needs);
  });

  it.each([
    'You need: a test.',
    'NEED:',
    'NEED: ...',
    'The fix:\n```go route.go\nfunc f() {}\n```\nNEED: src/route.go',
    'NEED: src/route.go\n\nsrc/a.js\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE',
    `${'This explains at length why it is so. '.repeat(30)}\nNEED: nothing more`,
  ])('is not seen in an answer: %j', (reply) => {
    expect(needsIn(reply)).toEqual([]);
  });

  it('is bounded, however much it asks for', () => {
    expect(needsIn(Array.from({ length: 1_000 }, (_, index) => `NEED: a${index}.js`).join('\n'))).toHaveLength(8);
    expect(needsIn(`NEED: ${'word '.repeat(10_000)}`)).toEqual([]);
    expect(needsIn(`NEED: ${'a b c d e f g h '}`)[0]?.words.length).toBeLessThanOrEqual(6);
    expect(needsIn('NEED: \n'.repeat(100_000))).toEqual([]);
  });
});
