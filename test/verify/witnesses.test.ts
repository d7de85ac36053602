import { describe, expect, it } from 'vitest';
import { reportOf } from '../../backend/verify/runners/ava.ts';
import { ReportError, type TestReport } from '../../backend/verify/runners/test-report.ts';
import { checkWitnesses, type WitnessEvent } from '../../backend/verify/runners/witnesses.ts';

const given: WitnessEvent = { type: 'given', file: '/c/a.test.js' };
const watched: WitnessEvent = { type: 'watched' };
const ran = (name: string, passed: boolean, test = 0, worker = '0.0'): WitnessEvent => ({
  type: 'ran', worker, test, file: '/c/a.test.js', path: [name, 'list'], passed,
});
const report = (...tests: (readonly [name: string, status: 'passed' | 'failed' | 'skipped'])[]): TestReport => ({
  results: tests.map(([name, status]) => ({ id: `a.test.js > list > ${name}`, kind: 'test', status })),
});

describe('what a report says and the workers saw', () => {
  it.each<readonly [string, WitnessEvent[], TestReport]>([
    ['is the same', [given, watched, ran('x', true), ran('y', false, 1)], report(['x', 'passed'], ['y', 'failed'])],
    ['is a test that failed first and passed when it ran again', [given, watched, ran('x', false), ran('x', true)], report(['x', 'passed'])],
    ['is a test that skipped itself', [given, watched, ran('x', false)], report(['x', 'skipped'])],
    ['are two tests of one name, in whatever order', [given, watched, ran('x', true), ran('x', false, 0, '0.1')], report(['x', 'failed'], ['x (2)', 'passed'])],
    ['are a test and what a compiler says of it', [given, watched, ran('x', true)], report(['x', 'passed'], ['x (2)', 'passed'])],
    ['is a test that ran in no worker, such as in a browser', [watched], report(['x', 'passed'])],
    ['is what a compiler says under other names', [given, watched, ran('x', true), { type: 'compiled' }], report(['x', 'passed'], ['a.test.ts > x', 'passed'])],
    ['is nothing, where this version of the runner is not understood', [given], report(['x', 'passed'])],
  ])('may be held against each other: %s', (_, events, said) => {
    expect(() => checkWitnesses(events, said, '/c')).not.toThrow();
  });

  it.each<readonly [string, WitnessEvent[], TestReport]>([
    ['a test that failed passes', [given, watched, ran('x', false)], report(['x', 'passed'])],
    ['a test passes that did not run', [given, watched, ran('y', true)], report(['x', 'passed'], ['y', 'passed'])],
    ['no test ran at all', [given, watched], report(['x', 'passed'])],
    ['a test that failed when it ran again passes', [given, watched, ran('x', true), ran('x', false)], report(['x', 'passed'])],
    ['both of two tests of one name pass', [given, watched, ran('x', true), ran('x', false, 1)], report(['x', 'passed'], ['x (2)', 'passed'])],
  ])('contradict each other where %s', (_, events, said) => {
    expect(() => checkWitnesses(events, said, '/c')).toThrow(ReportError);
  });
});

describe("ava's TAP and what its workers saw", () => {
  const read = (...events: object[]) => () =>
    reportOf([{ type: 'start' }, ...events, { type: 'tap', text: 'ok 1 - list › adds › twice (2)\n1..1\n' }, { type: 'end' }].map((event) => JSON.stringify(event)).join('\n'), '/c', []);
  const saw = (passed: boolean) => ({ type: 'ran', worker: '0.0', test: 0, path: ['adds › twice (2)'], passed });

  it('are the same where the report has a part of the path in front of the title', () => {
    expect(read({ type: 'watched' }, saw(true))).not.toThrow();
  });

  it.each([['failed', [saw(false)]], ['did not run', []]])('contradict each other where a test passes that %s', (_, events) => {
    expect(read({ type: 'watched' }, ...events)).toThrow(ReportError);
  });
});
