import { describe, expect, it } from 'vitest';
import { reportOf } from '../../backend/verify/runners/ava.ts';
import { parseTap } from '../../backend/verify/runners/tap-report.ts';

const TAP = `TAP version 13
ok 1 - list › counts
# ok 7 - none
not ok 2 - list › has a \\# last
  ---
    name: AssertionError
    ok 3 - forged
  ...
ok 3 - later # SKIP
not ok 4 - once # TODO
1..4
# tests 4
`;

describe('a TAP report', () => {
  it('is read with what is skipped, and what it says of a failure', () => {
    expect(parseTap(TAP)).toEqual([
      { status: 'passed', title: 'list › counts', message: undefined },
      { status: 'failed', title: 'list › has a # last', message: 'name: AssertionError\nok 3 - forged' },
      { status: 'skipped', title: 'later', message: undefined },
      { status: 'skipped', title: 'once', message: undefined },
    ]);
  });

  it.each([
    ['has no plan', TAP.replace('1..4', ''), /ends before the tests did/],
    ['has two plans', `${TAP}1..4\n`, /two plans/],
    ['has a line between others', TAP.replace('# ok 7 - none', 'ok 7 - none'), /do not follow/],
    ['has more tests than planned that passed', TAP.replace('1..4', '1..2'), /other tests/],
    ['has fewer tests than planned', TAP.replace('1..4', '1..5'), /other tests/],
    ['was given up', TAP.replace('1..4', 'Bail out! no'), /gave up: Bail out! no/],
  ])('is refused if it %s', (_, text, message) => {
    expect(() => parseTap(text)).toThrow(message);
  });

  it('names the file of a test of ava, by the longest part of a title that is the end of one', () => {
    const idsOf = (text: string, files: readonly string[]): readonly string[] =>
      reportOf([{ type: 'start' }, { type: 'tap', text }, { type: 'end' }].map((event) => JSON.stringify(event)).join('\n'), '/copy', files).results.map(({ id }) => id);
    expect(idsOf(TAP, ['test/list.js', 'test/more/list.js', 'list.js'])).toEqual(['list › counts', 'list › has a # last', 'later', 'once']);
    expect(idsOf(TAP.replaceAll('list ›', 'more › list ›'), ['test/list.js', 'test/more/list.js'])).toEqual([
      'test/more/list.js > counts', 'test/more/list.js > has a # last', 'later', 'once',
    ]);
    expect(idsOf(TAP, ['test.js', 'index.js'])[0]).toBe('test.js > list › counts');
  });
});
