import { describe, expect, it } from 'vitest';
import { argument, cmdLine, NotForWindowsError } from '../../../backend/verify/sandbox/windows/cmd-line.ts';
import { shellQuote } from '../../../backend/verify/sandbox/shell-quote.ts';
import { afterCmd, argumentsOf } from './as-windows-reads.ts';

const environment = { HOME: 'C:\\run\\temporary', Empty: '', MORE: '--one  --two' };
const line = (text: string, batch: readonly string[] = ['npm', 'mocha']): string => cmdLine(text, { environment, isBatch: (program) => batch.includes(program) });

describe('a line of cmd.exe', () => {
  it.each([
    ['node --test', 'node --test'],
    ['npm test && npm run lint', 'npm test && npm run lint'],
    ['one; two || three | four', 'one & two || three | four'],
    ['(cd packages/a && npm test)', '( cd /d packages\\a && npm test )'],
    ['one\n\n  # no more\ntwo\n', 'one & two'],
    ['one \\\n two', 'one two'],
    ["mocha 'test/**/*.js'", 'mocha test/**/*.js'],
    ["mocha --grep 'a b'", 'mocha --grep "a b"'],
    ['./node_modules/.bin/mocha a/b', '.\\node_modules\\.bin\\mocha a/b'],
    ['node_modules\\.bin\\mocha', 'node_modules\\.bin\\mocha'],
    ['"C:\\Program Files\\nodejs\\node.exe" a.js', '"C:\\Program Files\\nodejs\\node.exe" a.js'],
    ['go test -json ./... >>\'C:\\run\\report\\a.jsonl\' 2>&1', 'go test -json ./... >>C:\\run\\report\\a.jsonl 2>&1'],
    ['prove <in 2>/dev/null', 'prove <in 2>NUL'],
    ['TZ=UTC mocha', '(set ^"TZ=UTC^"&& mocha)'],
    ['export A=1 B="x y"; node a', 'set ^"A=1^"&& set ^"B=x y^" & node a'],
    ['unset A; node a', '(set "A=" & ver >NUL) & node a'],
    ['A=1; node $A "$HOME/x" $Empty $MORE', 'set ^"A=1^" & node 1 C:\\run\\temporary/x --one --two'],
    ['A=1 node a$A', '(set ^"A=1^"&& node a)'],
    ['exec node a', 'node a'],
    ['true || false', 'ver >NUL || cmd /d /c exit 1'],
    ['npm i a@^1.0', 'npm i "a@^1.0"'],
    ["node -p '1 < 2'", 'node -p "1 < 2"'],
    ['echo for while', 'echo for while'],
  ])('does what %s does', (posix, cmd) => {
    expect(line(posix)).toBe(cmd);
  });

  it.each([
    ['server & npm test', 'in the background'],
    ['node $(find . -name "*.test.js")', '$('],
    ['node `find .`', '`'],
    ['node ${A:-b}', '${'],
    ['for f in *; do node $f; done', '"for"'],
    ['if test -f a; then node a; fi', '"if"'],
    ['cat <<E', 'here-document'],
    ["node 'a", 'quote'],
    ["node -e 'a\nb'", 'several lines'],
    [`node ${'a'.repeat(9_000)}`, '8191'],
  ])('is refused where it cannot say %.30s', (posix, named) => {
    expect(() => line(posix)).toThrow(NotForWindowsError);
    expect(() => line(posix)).toThrow(named);
  });
});

/** The same texts in each run. */
function* hardTexts(): Generator<string> {
  yield* ['', ' ', '"', '\\', '\\\\', 'a\\', 'a b\\', '\\"', 'a"b', '%PATH%', '^', '^^', '&', 'a&b', '"&calc&"', '%PATH%" & calc', '!x!', '(a)', "it's", 'a,b;c=d', 'ä ö', '\\\\server\\share\\', '-t=^a"b$'];
  let seed = 1;
  const next = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const alphabet = [...'ab "\\%^&|<>()!\'=,;'];
  for (let count = 0; count < 3_000; count += 1) yield Array.from({ length: next(12) }, () => alphabet[next(alphabet.length)] ?? '').join('');
}

describe('an argument', () => {
  it('reaches a program as it was written, whatever it holds', () => {
    for (const text of hardTexts()) expect([text, ...argumentsOf(afterCmd(`x ${argument(text, 1)} end`, { PATH: 'C:\\' }))]).toEqual([text, text, 'end']);
  });

  it('reaches the program behind a batch file, too, which cmd.exe reads once more', () => {
    for (const text of hardTexts()) {
      const inBatch = `node x.js ${afterCmd(`x ${argument(text, 2)} end`, { PATH: 'C:\\' }).slice(2)}`;
      // In a batch file, what stands for the arguments is put in after the percent signs were read.
      const hidden = inBatch.replaceAll('%', '\0');
      expect([text, ...argumentsOf(afterCmd(hidden).replaceAll('\0', '%'))]).toEqual([text, 'x.js', text, 'end']);
    }
  });

  it('that a POSIX shell quotes means the same', () => {
    for (const text of hardTexts()) {
      const cmd = line(`x ${shellQuote(text)}`, []);
      expect([text, ...argumentsOf(afterCmd(cmd, { PATH: 'C:\\' }))]).toEqual([text, text]);
    }
  });
});
