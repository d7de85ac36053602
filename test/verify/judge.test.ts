import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judge } from '../../backend/verify/judge/judge.ts';
import { report } from './reports.ts';

describe('the comparison of two reports', () => {
  const rows: [name: string, before: string[], after: string[], exitCode: number | null, verified: boolean, score: number][] = [
    ['all fail-to-pass and pass-to-pass tests pass', ['✗ a', '✓ b'], ['✓ a', '✓ b'], 0, true, 1],
    ['fixed, and a new test passes', ['✗ a'], ['✓ a', '✓ n'], 0, true, 1],
    ['fixed, but the exit code says no', ['✗ a'], ['✓ a'], 1, false, 0],
    ['fixed, but ended by a signal', ['✗ a'], ['✓ a'], null, false, 0],
    ['exit code 0 and nothing fixed', ['✗ a', '✓ b'], ['✗ a', '✓ b'], 0, false, 0],
    ['half fixed', ['✗ a', '✗ c', '✓ b'], ['✓ a', '✗ c', '✓ b'], 1, false, 0.5],
    ['fixed, one of two broken', ['✗ a', '✓ b', '✓ c'], ['✓ a', '✗ b', '✓ c'], 1, false, 0.5],
    ['fixed, one missing', ['✗ a', '✓ b'], ['✓ a'], 0, false, 0],
    ['fixed, one skipped', ['✗ a', '✓ b', '✓ c'], ['✓ a', '- b', '✓ c'], 0, false, 0.5],
    ['the target missing', ['✗ a', '✓ b'], ['✓ b'], 0, false, 0],
    ['the target skipped', ['✗ a', '✓ b'], ['- a', '✓ b'], 0, false, 0],
    ['fixed, and a test fails that was skipped', ['✗ a', '- b'], ['✓ a', '✗ b'], 0, false, 0],
    ['fixed, and a new test fails', ['✗ a'], ['✓ a', '✗ n'], 0, false, 0],
    ['nothing executed', ['✗ a', '✓ b'], [], 0, false, 0],
    ['nothing failed before', ['✓ a'], ['✓ a'], 0, false, 0],
    ['a file that loads now', ['✗ [f]', '✓ b'], ['✓ f > a', '✓ b'], 0, true, 1],
    ['a file that loads now, with one of its tests failing', ['✗ [f]'], ['✓ f > a', '✗ f > b'], 1, false, 0.5],
    ['a file that ends without a test', ['✗ [f]'], ['✓ [f]'], 0, false, 0],
    ['a file that still does not load', ['✗ [f]', '✓ b'], ['✗ [f]', '✓ b'], 1, false, 0],
    ['fixed, and a suite fails by itself', ['✗ s > a'], ['✓ s > a', '✗ [s]'], 0, false, 0],
    ['a suite that failed around its test', ['✓ s > a', '✗ [s]'], ['✓ s > a', '✓ [s]'], 0, true, 1],
    ['a suite that still fails around its test', ['✗ c', '✓ s > a', '✗ [s]'], ['✓ c', '✓ s > a', '✗ [s]'], 1, false, 0.5],
    ['a suite that failed around its test, which is skipped now', ['✓ s > a', '✗ [s]'], ['- s > a', '✓ [s]'], 0, false, 0],
    ['a suite that failed with one of its tests, which is skipped now', ['✗ s > a', '✓ s > b', '✗ [s]'], ['- s > a', '✓ s > b', '✓ [s]'], 0, false, 0],
    ['a suite that failed with its test', ['✗ s > a', '✗ [s]'], ['✓ s > a', '✓ [s]'], 0, true, 1],
  ];
  it.each(rows)('%s', (_, before, after, exitCode, verified, score) => {
    expect(judge(report(...before), { report: report(...after), exitCode })).toMatchObject({
      verified,
      score,
      outcome: verified ? 'verified' : 'failed',
    });
  });

  describe('of what could not be built', () => {
    const unbuilt = { results: [{ id: 'the build', kind: 'container' as const, status: 'failed' as const, message: 'A.java:4: no such symbol', hidesAll: true as const }] };
    const empty = (id: string) => ({ id, kind: 'container' as const, status: 'passed' as const, isEmpty: true as const });
    const both = (...reports: { results: ReturnType<typeof report>['results'] }[]) => ({ results: reports.flatMap(({ results }) => results) });

    it('tests from anywhere are fail-to-pass tests', () => {
      expect(judge(unbuilt, { report: report('✓ a', '✓ b'), exitCode: 0 })).toMatchObject({ outcome: 'verified', score: 1, reason: '2 tests that failed before passed, and 0 tests that passed still did.' });
      expect(judge(unbuilt, { report: report('✓ a', '✗ b'), exitCode: 1 })).toMatchObject({ outcome: 'failed', score: 0.5 });
      expect(judge(unbuilt, { report: report('✓ a', '- b'), exitCode: 0 })).toMatchObject({ outcome: 'failed', score: 0.5 });
      expect(judge(unbuilt, { report: report('- b'), exitCode: 0 })).toMatchObject({ outcome: 'failed', score: 0 });
      expect(judge(both(report('✓ a'), unbuilt), { report: report('✓ b'), exitCode: 0 })).toMatchObject({ outcome: 'failed', reason: 'Of 1 test that passed before, 1 did not pass any more.' });
    });

    it('it is said that it still cannot, or cannot any more', () => {
      expect(judge(unbuilt, { report: unbuilt, exitCode: 1 })).toMatchObject({ outcome: 'failed', reason: 'The project could be built neither before the change nor with it (A.java:4: no such symbol).' });
      expect(judge(report('✗ a', '✓ b'), { report: unbuilt, exitCode: 1 })).toMatchObject({ outcome: 'failed', reason: 'The project cannot be built with the change (A.java:4: no such symbol).' });
      expect(judge(report('✗ a', '✓ b'), { report: both(report('✓ a', '✓ b'), unbuilt), exitCode: 1 })).toMatchObject({ outcome: 'failed', score: 0 });
    });

    it('a part without tests is mended if it can be, and only by that', () => {
      expect(judge(report('✗ [lib]', '✗ [app]'), { report: both(report('✓ lib > a'), { results: [empty('app')] }), exitCode: 0 })).toMatchObject({ outcome: 'verified', score: 1, reason: '1 test that failed before passed, and 0 tests that passed still did.' });
      expect(judge(report('✗ [lib]', '✗ [app]'), { report: report('✓ lib > a'), exitCode: 0 })).toMatchObject({ outcome: 'failed', score: 0.5 });
      expect(judge(report('✗ [app]', '✓ a'), { report: both(report('✓ a'), { results: [empty('app')] }), exitCode: 0 })).toMatchObject({ outcome: 'verified', reason: expect.stringMatching(/^What could not be built can be built, and 1 test/) });
      expect(judge(report('✗ a'), { report: both(report('✗ a'), { results: [empty('app')] }), exitCode: 1 })).toMatchObject({ outcome: 'failed', score: 0 });
    });
  });

  it('writes numbers in one way', () => {
    const all = (sign: string): string[] => Array.from({ length: 1_200 }, (_, index) => `${sign} ${index}`);
    expect(judge(report(...all('✗')), { report: report(...all('✗')), exitCode: 1 }).reason).toBe('Of 1,200 tests that failed before, 1,200 still did not pass.');
    expect(judge(report('✗ a', ...all('✓')), { report: report('✓ a', ...all('✗')), exitCode: 1 }).reason).toBe('Of 1,200 tests that passed before, 1,200 did not pass any more.');
  });

  it('says what the change broke beside what still fails', () => {
    const { reason } = judge(report('✗ a', '✓ b', '✓ c'), { report: report('✗ a', '✗ b', '✓ c'), exitCode: 1 });
    expect(reason).toBe('Of 1 test that failed before, 1 still did not pass, and 1 test that passed before did not pass any more.');
  });

  it('says of files that could not be loaded that they could not, with what they ended with', () => {
    const message = 'tests/test_tags.py:3: in <module>\n    import pretend\nModuleNotFoundError: No module named \'pretend\'';
    const results = report('✗ [tests/test_tags.py]').results.map((result) => ({ ...result, message }));
    const reasonOf = (...others: string[]): string => {
      const run = { results: [...results, ...report(...others).results] };
      return judge(run, { report: run, exitCode: 1 }).reason;
    };
    const first = "tests/test_tags.py could be loaded neither before the change nor with it (ModuleNotFoundError: No module named 'pretend').";
    expect(reasonOf()).toBe(`${first} No test ran.`);
    expect(reasonOf('✓ a')).toBe(first);
    expect(reasonOf('✗ [b]')).toMatch(/^tests\/test_tags\.py, like 1 other file or suite, could be loaded neither .* No test ran\.$/);
    // A test that ran and failed is the better reason.
    expect(reasonOf('✗ a')).toBe('Of 2 tests that failed before, 2 still did not pass.');
  });

  it.each([
    ['listen unix /tmp/a.sock: socket: operation not permitted', 'no Unix sockets'],
    ['Error: listen EPERM: operation not permitted /tmp/a.sock', 'no Unix sockets'],
    ['Error: getaddrinfo EAI_AGAIN example.com', 'no network'],
    ['socket.gaierror: [Errno -3] Temporary failure in name resolution', 'no network'],
    ['java.net.UnknownHostException: example.com', 'no network'],
  ])('says of tests that still fail with "%s" what the sandbox holds back', (message, what) => {
    const failed = { id: 'b', kind: 'test', status: 'failed', message } as const;
    const beside = (other: string) => ({ results: [...report(other).results, failed] });
    expect(judge(beside('✗ a'), { report: beside('✓ a'), exitCode: 1 }).reason).toContain(`nothing to do with it. In the sandbox, tests have ${what}, and some of these say that they miss that.`);
  });

  it('names what is red as before where the change mends the others and breaks none', () => {
    const reasonOf = (before: readonly string[], after: readonly string[], targets?: readonly string[]): string =>
      judge(report(...before), { report: report(...after), exitCode: 1 }, { ...(targets && { targets }) }).reason;
    expect(reasonOf(['✗ a', '✗ b', '✓ c'], ['✓ a', '✗ b', '✓ c']))
      .toBe('Of 2 tests that failed before, 1 still did not pass: b. The change mends the others and breaks none, so it may be right if that test has nothing to do with it.');
    expect(reasonOf(['✗ a', '✗ b', '✗ c', '✗ d', '✗ e'], ['✓ a', '✗ b', '✗ c', '✗ d', '✗ e'])).toContain('4 still did not pass: b, c, d and 1 more. ');
    const plain = 'Of 2 tests that failed before, 1 still did not pass.';
    const broken = plain.replace('.', ', and 1 test that passed before did not pass any more.');
    expect(reasonOf(['✗ a', '✗ b', '✓ c'], ['✓ a', '✗ b', '✗ c'])).toBe(broken);
    expect(reasonOf(['✗ a', '✗ b', '✓ c'], ['✓ a', '✗ b'])).toBe(broken);
    expect(reasonOf(['✗ a', '✗ b'], ['✓ a', '✗ b', '✗ new'])).toBe(plain);
    expect(reasonOf(['✗ a', '✗ b'], ['✓ a', '✗ b'], ['a', 'b'])).toBe('Of 2 named tests, 1 did not pass.');
  });

  it('never verifies a failing, missing or skipped test, and scores 1 only what it verifies', () => {
    const marks = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', '[f]', 'f > e'), fc.constantFrom('✓', '✗', '-'));
    const lines = (from: Record<string, string>): string[] => Object.entries(from).map(([id, mark]) => `${mark} ${id}`);
    fc.assert(
      fc.property(marks, marks, fc.constantFrom(0, 1), (before, after, exitCode) => {
        const judgement = judge(report(...lines(before)), { report: report(...lines(after)), exitCode });
        const isSound =
          exitCode === 0 &&
          Object.values(before).includes('✗') &&
          !Object.values(after).includes('✗') &&
          Object.entries(before).every(([id, mark]) => id === '[f]' || mark === '-' || after[id] === '✓');
        expect(judgement.verified && !isSound).toBe(false);
        expect(judgement.score === 1).toBe(judgement.verified);
        expect(judgement.score).toBeGreaterThanOrEqual(0);
        expect(judgement.score).toBeLessThanOrEqual(1);
      }),
      { numRuns: 2_000 },
    );
  });

  it('leaves flaky tests out, and lets them explain the exit code', () => {
    const flaky = new Set(['r', 'q']);
    const judged = judge(report('✗ a', '✗ r', '✓ q'), { report: report('✓ a', '✗ r', '✗ q'), exitCode: 1 }, { flaky });
    expect(judged).toMatchObject({ verified: true, score: 1 });
    expect(judged.tests.filter((test) => test.flaky).map(({ id }) => id)).toEqual(['r', 'q']);
    expect(judge(report('✗ r'), { report: report('✓ r'), exitCode: 0 }, { flaky })).toMatchObject({ verified: false, score: 0 });
  });

  it('rests on the named tests alone where tests are named', () => {
    const named = (before: string[], after: string[], ...targets: string[]): unknown =>
      judge(report(...before), { report: report(...after), exitCode: after.some((line) => line.startsWith('✗')) ? 1 : 0 }, { targets });
    expect(named(['✗ a', '✗ b'], ['✓ a', '✗ b'], 'a')).toMatchObject({ verified: true, score: 1 });
    expect(named(['✓ a'], ['✓ a'], 'a')).toMatchObject({ verified: true, score: 1 });
    expect(named(['✗ a', '✓ c'], ['✓ a', '✗ c'], 'a')).toMatchObject({ verified: false, score: 0 });
    expect(named(['✗ a'], ['✓ a'], 'a', 'n')).toMatchObject({ verified: false, score: 0.5, reason: 'Of 2 named tests, 1 did not pass.' });
    expect(named(['✗ a'], ['- a'], 'a')).toMatchObject({ verified: false, score: 0 });
    expect(named(['✗ a', '✓ b'], ['✓ a', '✓ b', '✗ n'], 'a')).toMatchObject({ verified: false });
  });

  it('asks nothing of a test that declares itself skipped in a file that could not be loaded', () => {
    const after = { report: report('✓ f > a', '- f > s'), exitCode: 0 };
    expect(judge(report('✗ [f]'), after, { declaredSkips: new Set(['f > s']) })).toMatchObject({ verified: true });
    expect(judge(report('✗ [f]'), after)).toMatchObject({ verified: false, score: 0.5 });
    const skipped = { report: report('- f > s'), exitCode: 0 };
    expect(judge(report('✗ [f]'), skipped, { declaredSkips: new Set(['f > s']) })).toMatchObject({ verified: false, score: 0 });
  });
});
