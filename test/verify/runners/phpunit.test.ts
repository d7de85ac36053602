import { describe, expect, it } from 'vitest';
import { parsePhpunitLines } from '../../../backend/verify/runners/phpunit.ts';
import { ReportError } from '../../../backend/verify/runners/test-report.ts';
import { makeScratch, trySandbox } from '../setup.ts';
import { changes, judge, summary, tryProgram, type Files } from './setup.ts';

const { available, note } = await trySandbox();
const program = tryProgram('phpunit', '--version');

const lines = (...events: object[]): string => events.map((event) => JSON.stringify(event)).join('\n');
const result = (status: string, name: string, kind = 'test'): object =>
  ({ type: 'result', kind, status, file: '/c/tests/ATest.php', names: name === '' ? ['ATest'] : ['ATest', name], message: status === 'failed' ? 'Not equal in /c/tests/ATest.php.' : null, durationMs: 1 });
const END = { type: 'end' };

describe('a report of PHPUnit', () => {
  it('names each test by its file, its class and its data, and a class that failed once', () => {
    const report = parsePhpunitLines(lines(result('passed', 'testOne'), result('failed', 'testTwo with data set #0'), result('failed', '', 'container'), result('failed', '', 'container'), END), '/c');
    expect(summary(report)).toEqual([
      'passed tests/ATest.php > ATest > testOne', 'failed tests/ATest.php > ATest > testTwo with data set #0', 'failed container tests/ATest.php > ATest',
    ]);
    expect(report.results[1]).toMatchObject({ message: 'Not equal in tests/ATest.php.' });
  });

  it('says that a run broke off, and where', () => {
    const broken = { type: 'broken', file: '/c/tests/ATest.php', names: ['ATest', 'testOne'], message: null };
    expect(parsePhpunitLines(lines(broken, END), '/c').results).toEqual([
      { id: 'the run of the tests', kind: 'container', status: 'failed', message: 'In tests/ATest.php > ATest > testOne: the process ended', hidesAll: true },
    ]);
    expect(parsePhpunitLines(lines({ ...broken, file: null, names: [] }, END), '/c', 'Cannot open file').results[0]).toMatchObject({ message: 'Cannot open file' });
  });

  it.each([
    ['without an end', lines(result('passed', 'testOne'))],
    ['with a test that the code under test told of', lines({ type: 'planted', what: 'A test was told of.' }, END)],
    ['with a class of PHPUnit that the code under test has replaced', lines({ type: 'replaced', name: 'PHPUnit\\Framework\\Assert', file: 'src/a.php' }, END)],
  ])('is refused %s', (_, text) => {
    expect(() => parsePhpunitLines(text, '/c')).toThrow(ReportError);
  });
});

const FILES: Files = {
  'phpunit.xml': '<phpunit bootstrap="src/money.php"><testsuites><testsuite name="all"><directory>tests</directory></testsuite></testsuites></phpunit>\n',
  'src/money.php': '<?php\nnamespace Shop;\n\nfunction total(int $a, int $b): int\n{\n    return $a - $b;\n}\n',
  'tests/MoneyTest.php': `<?php
namespace Shop\\Tests;

use PHPUnit\\Framework\\TestCase;
use function Shop\\total;

final class MoneyTest extends TestCase
{
    public function testTotal(): void
    {
        $this->assertSame(12, total(10, 2));
    }

    /** @dataProvider rows */
    public function testRows(int $a, int $b, int $total): void
    {
        self::assertEquals($total, total($a, $b));
    }

    public static function rows(): array
    {
        return [[1, 2, 3], 'large' => [100, 250, 350], [5, 0, 5]];
    }

    public function testNotYet(): void
    {
        $this->markTestIncomplete('later');
    }

    public function testWrongType(): void
    {
        $this->expectException(\\TypeError::class);
        total([], 1);
    }

    /** @runInSeparateProcess */
    public function testApart(): void
    {
        $this->assertSame(4, total(2, 2));
    }
}
`,
  'tests/HookTest.php': `<?php
use PHPUnit\\Framework\\TestCase;

class HookTest extends TestCase
{
    public static function setUpBeforeClass(): void
    {
        if (Shop\\total(1, 1) !== 2) throw new Exception('no total');
    }

    public function testOne(): void
    {
        $this->assertSame('ab', 'a' . 'b');
    }
}
`,
};
const FIXED = '<?php\nnamespace Shop;\n\nfunction total(int $a, int $b): int\n{\n    return $a + $b;\n}\n';

describe.skipIf(!available || !program.isHere)(`PHPUnit (${note}, ${program.note})`, { timeout: 240_000 }, () => {
  it('verifies an honest fix: its tests, their data, those in a process of their own, and a class that could not be set up', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, FILES, { 'src/money.php': FIXED }, 'phpunit');
    expect(verdict, verdict.reason).toMatchObject({ verified: true, outcome: 'verified' });
    const money = (name: string): string => `tests/MoneyTest.php > MoneyTest > ${name}`;
    expect(changes(verdict)).toMatchObject({
      [money('testTotal')]: 'failed → passed',
      [money('testRows with data set #0')]: 'failed → passed',
      [money('testRows with data set "large"')]: 'failed → passed',
      [money('testRows with data set #1')]: 'passed → passed',
      [money('testNotYet')]: 'skipped → skipped',
      [money('testWrongType')]: 'passed → passed',
      [money('testApart')]: 'failed → passed',
      'tests/HookTest.php > HookTest > testOne': 'failed → passed',
    });
  });

  it('verifies what mends a file that PHP cannot read, and refuses what makes one', async () => {
    await using scratch = await makeScratch();
    const broken = { ...FILES, 'src/money.php': `${FIXED}function total() {}\n` };
    const verdict = await judge(scratch, broken, { 'src/money.php': FIXED }, 'phpunit');
    expect(verdict, verdict.reason).toMatchObject({ verified: true });
    expect(await judge(scratch, FILES, { 'src/money.php': '<?php\nfunction (' }, 'phpunit')).toMatchObject({ outcome: 'failed' });
  });

  it('tests the sources of the copy where Composer has installed packages', async () => {
    await using scratch = await makeScratch();
    const installed: Files = {
      ...FILES,
      'phpunit.xml': String(FILES['phpunit.xml']).replace('src/money.php', 'vendor/autoload.php'),
      'composer.json': '{"require-dev": {"phpunit/phpunit": "^9"}, "scripts": {"test": ["@unit"], "unit": "phpunit --colors=never"}}\n',
      'vendor/autoload.php': "<?php return require __DIR__ . '/composer/real.php';\n",
      'vendor/composer/installed.json': '{}',
      'vendor/composer/real.php': "<?php require dirname(__DIR__) . '/acme/lib/lib.php'; require dirname(__DIR__, 2) . '/src/money.php';\n",
      'vendor/acme/lib/lib.php': '<?php const ACME = 1;\n',
    };
    const verdict = await judge(scratch, installed, { 'src/money.php': FIXED }, 'composer test');
    expect(verdict, verdict.reason).toMatchObject({ verified: true });
  });
});
