import { describe, expect, it } from 'vitest';
import type { TestChange } from '../../backend/protocol/verdict.ts';
import { countOf, firstRows, verdictRows } from '../../webview/verdict-rows.ts';
import { MANY_TESTS, REGRESSED } from './verdict-fixtures.ts';

const mended = (id: string): TestChange => ({ id, before: 'failed', after: 'passed' });

describe('verdictRows', () => {
  it('puts what speaks against the change first', () => {
    expect(verdictRows(REGRESSED.tests).changed.flatMap(({ rows }) => rows.map(({ kind }) => kind)))
      .toEqual(['broken', 'still-failing', 'mended']);
  });

  it('groups tests by file, the file with the first broken test before others', () => {
    const { changed, kept, notRun } = verdictRows(MANY_TESTS.tests);
    expect(changed.map(({ place, rows }) => [place.join(' '), rows.length])).toEqual([
      ['packages/cli/test/run.test.ts', 2], ['packages/parser/test/tokens.test.ts tokens', 40], ['packages/cli/test/watch.test.ts', 1],
    ]);
    expect([kept.length, countOf(kept)]).toEqual([12, 540]);
    expect(countOf(notRun)).toBe(3);
  });

  it('names a group by all that its tests share, and a test by the rest', () => {
    const [group] = verdictRows([mended('a.test.ts > merge > empty > stays'), mended('a.test.ts > merge > joins')]).changed;
    expect(group?.place).toEqual(['a.test.ts', 'merge']);
    expect(group?.rows.map(({ suites, name }) => [suites, name])).toEqual([[['empty'], 'stays'], [[], 'joins']]);
  });

  it('keeps tests without a file together', () => {
    expect(verdictRows([mended('one'), mended('two')]).changed).toMatchObject([{ place: [], rows: [{ name: 'one' }, { name: 'two' }] }]);
  });
});

describe('firstRows', () => {
  it('takes so many rows and drops groups that have none left', () => {
    const { changed } = verdictRows(MANY_TESTS.tests);
    expect(firstRows(changed, 5).map(({ rows }) => rows.length)).toEqual([2, 3]);
    expect(countOf(firstRows(changed, 1_000))).toBe(countOf(changed));
  });
});
