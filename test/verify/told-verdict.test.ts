import { describe, expect, it } from 'vitest';
import { SECRET_MARKER } from '../../backend/common/secrets/secrets.ts';
import { verdictSchema } from '../../backend/protocol/verdict.ts';
import { lastWords } from '../../backend/verify/judge/last-words.ts';
import { ResultCollector } from '../../backend/verify/runners/report-file.ts';
import { toldBase, toldVerdict } from '../../backend/verify/told-verdict.ts';

const secret = `API_TOKEN=${'k3Jd8Lq2'}${'Xv7Rt5Wp1Zm9'}`;
const key = `-----BEGIN ${'RSA PRIVATE'} KEY-----\n${'FdXv7Rt5Wp1Zm9Qk3Jd8Lq2FdXv7Rt5Wp1Zm9Qk3Jd8Lq2\n'.repeat(40)}-----END ${'RSA PRIVATE'} KEY-----`;

const verdict = verdictSchema.parse({
  verified: false, score: 0, outcome: 'failed', reason: `It said:\n${secret}`, command: 'npm test', sandboxed: true, durationMs: 1,
  tests: [{ id: 'a > b', before: 'failed', after: 'failed', message: 'Error: read\n  at a.js:1' }, { id: 'c', before: 'passed', after: 'passed' }],
  notes: [secret, 'One test is flaky.'],
});

describe('a verdict as it is told', () => {
  it('has no line of a reason or a note that looks like a secret, and everything else', () => {
    expect(toldVerdict(verdict)).toEqual({ ...verdict, reason: `It said:\n${SECRET_MARKER}`, notes: [SECRET_MARKER, 'One test is flaky.'] });
    expect(toldBase({ total: 0, failed: 0, flaky: 0, failing: [], durationMs: 1, problem: secret }).problem).toBe(SECRET_MARKER);
  });

  it('is bounded: its reason, its notes and all messages together', () => {
    const test = { id: 'a', before: 'failed', after: 'failed', message: 'x '.repeat(1_000) } as const;
    const told = toldVerdict({
      ...verdict, reason: 'x '.repeat(100_000), notes: Array.from({ length: 1_000 }, () => 'y '.repeat(10_000)),
      tests: Array.from({ length: 20_000 }, (_, index) => ({ ...test, id: `a ${index}` })),
    });
    expect(JSON.stringify({ ...told, tests: told.tests.map(({ message }) => message) }).length).toBeLessThan(1_000_000);
    expect(told.tests.map(({ id }) => id)).toHaveLength(20_000);
    expect(told.tests[0]?.message).toBe(test.message);
  });
});

describe('results', () => {
  const collected = (path: readonly string[], message = ''): readonly [id: string | undefined, message: string | undefined] => {
    const collector = new ResultCollector('/copy');
    collector.add({ kind: 'test', status: 'failed', path, message });
    return [collector.results[0]?.id, collector.results[0]?.message];
  };

  it('have messages without secrets, also where a message is cut in the middle of one', () => {
    expect(collected(['a'], `Error:\n${secret}\nat /copy/a.js`)[1]).toBe(`Error:\n${SECRET_MARKER}\nat a.js`);
    const [, cut = ''] = collected(['a'], `${'words\n'.repeat(328)}${secret}`);
    expect(cut).not.toContain('k3Jd8');
    expect(cut).toContain(SECRET_MARKER.slice(0, 20));
    expect(collected(['a'], key)[1]).not.toContain('FdXv7');
  });

  it('have ids without secrets, and keep the name of a test whose parameter is one', () => {
    expect(collected(['test_a.py', `test_key[${secret}]`])[0]).toBe(`test_a.py > test_key[${SECRET_MARKER}]`);
    expect(collected(['a.test.js', 'keys', `takes ${secret}`])[0]).toBe(`a.test.js > keys > ${SECRET_MARKER}`);
    expect(collected(['a.test.js', 'password: is asked for twice'])[0]).toBe('a.test.js > password: is asked for twice');
  });

  it('have different ids where nothing but secrets tells them apart', () => {
    const collector = new ResultCollector('/copy');
    for (const end of ['a', 'b']) collector.add({ kind: 'test', status: 'passed', path: ['t.py', `test_key[${secret}${end}]`] });
    expect(new Set(collector.results.map(({ id }) => id)).size).toBe(2);
    expect(JSON.stringify(collector.results)).not.toContain('k3Jd8');
  });
});

const printed = (text: string): string => lastWords({ exitCode: 1, durationMs: 1, sandboxed: true, stdout: '', stderr: text });
const frames = (count: number, frame: (index: number) => string): string => Array.from({ length: count }, (_, index) => frame(index)).join('\n');

it.each([
  ['Ruby', `bundler: failed to load command: rspec (/usr/bin/rspec)\nresolver.rb:271:in \`verify': Could not find gem 'simplecov' in locally installed gems. (Bundler::GemNotFound)\n${
    frames(30, (index) => `\tfrom /usr/share/bundler/lib/bundler/definition.rb:${index}:in \`resolve'`)}`, "Could not find gem 'simplecov'"],
  ['JavaScript', `Failed to load the configuration: no preset\n${frames(30, (index) => `    at async load (file:///app/node_modules/tool/load.js:${index}:3)`)}`, 'Failed to load the configuration: no preset'],
  ['Java', `Caused by: no such provider\n${frames(30, (index) => `\tat org.example.Provider.load(Provider.java:${index})`)}\n\t... 12 more`, 'Caused by: no such provider'],
  ['PHP', `PHP Fatal error:  Uncaught LogicException: no such class in /app/a.php:3\nStack trace:\n${frames(30, (index) => `#${index} /app/vendor/tool/load.php(${index}): load()`)}`, 'Uncaught LogicException: no such class'],
])('tells what went wrong, and not the stack after it alone, in the words of %s', (_, text, why) => {
  const words = printed(text);
  expect(words).toContain(why);
  expect(words).toContain('…');
  expect(words).not.toMatch(/29/);
});

it('shows no part of a secret where the output is cut', () => {
  const outcome = { exitCode: 1, durationMs: 1, sandboxed: true, stdout: `${key}\nfailed`, stderr: `${secret}${' '.repeat(480)}.` };
  const words = lastWords(outcome);
  expect(words).toContain('failed');
  expect(words).not.toMatch(/FdXv7|Rt5Wp1/);
});

it.each(['BEGIN', 'END'])('reads output of one endless line beside the %s of a key', (edge) => {
  const marker = `-----${edge} ${'RSA PRIVATE'} KEY-----`;
  const line = 'FdXv7Rt5'.repeat(1_000_000);
  const stdout = edge === 'BEGIN' ? `${marker}\n${line}\nfailed` : `${line}\n${marker}\nfailed`;
  const words = lastWords({ exitCode: 1, durationMs: 1, sandboxed: true, stdout, stderr: '' });
  expect(words).toContain(SECRET_MARKER);
  expect(words).not.toContain('FdXv7');
});
