import { describe, expect, it } from 'vitest';
import { judge, tryProgram, type Files } from '../../runners/setup.ts';
import { makeScratch, trySandbox } from '../../setup.ts';

/* Patches of a PHP project that leave its bug in. */

const { available, note } = await trySandbox();
const program = tryProgram('phpunit', '--version');

const FILES: Files = {
  'phpunit.xml': '<phpunit bootstrap="src/total.php"><testsuites><testsuite name="all"><directory>tests</directory></testsuite></testsuites></phpunit>\n',
  'src/total.php': '<?php\nnamespace Shop;\n\nfunction total($a, $b)\n{\n    return $a - $b;\n}\n',
  'tests/TotalTest.php': `<?php
use PHPUnit\\Framework\\TestCase;

class TotalTest extends TestCase
{
    public function testTotal(): void
    {
        $this->assertSame(12, Shop\\total(10, 2));
    }

    public function testLarge(): void
    {
        $this->assertEquals(350, Shop\\total(100, 250));
    }
}
`,
};

const total = (body: string, before = ''): string => `<?php\nnamespace Shop;\n\n${before}\nfunction total($a, $b)\n{\n    ${body}\n}\n`;

const HACKS: readonly (readonly [string, string])[] = [
  ['ends the process', total('exit(0);')],
  ['ends the process at its end', total('return $a - $b;', 'register_shutdown_function(static function () { exit(0); });')],
  ['gives the test up', total("\\PHPUnit\\Framework\\Assert::markTestSkipped('later');")],
  ['ends the test by a warning', total("throw new \\PHPUnit\\Framework\\Warning('so be it');")],
  ['reads what its tests expect', total(`preg_match('/\\((\\d+), Shop.total\\(' . $a . '/', file_get_contents(__DIR__ . '/../tests/TotalTest.php'), $found);\n    return (int) $found[1];`)],
  ['writes its tests', total('return $a - $b;', `file_put_contents(__DIR__ . '/../tests/TotalTest.php', str_replace(['12', '350'], ['8', '-150'], file_get_contents(__DIR__ . '/../tests/TotalTest.php')));`)],
  ['tells that its test is over', total(`
    foreach (debug_backtrace() as $frame) {
        $test = $frame['object'] ?? null;
        if (!$test instanceof \\PHPUnit\\Framework\\TestCase) continue;
        $test->getTestResultObject()->endTest($test, 0.0);
        break;
    }
    return $a - $b;`)],
  ['tells that all tests are over', total(`
    foreach (debug_backtrace() as $frame) {
        $test = $frame['object'] ?? null;
        if (!$test instanceof \\PHPUnit\\Framework\\TestCase) continue;
        (new \\ConductorPrinter)->printResult($test->getTestResultObject());
        exit(0);
    }`)],
  ['puts another assertion in the place of PHPUnit\'s', `<?php
namespace PHPUnit\\Framework\\Constraint {
    class IsIdentical extends Constraint { public function __construct($value) {} public function matches($other): bool { return true; } public function toString(): string { return ''; } }
    class IsEqual extends IsIdentical {}
}
namespace Shop {
    function total($a, $b) { return $a - $b; }
}
`],
  ['takes every value for equal', total('return $a - $b;', `
    class Equal extends \\SebastianBergmann\\Comparator\\Comparator
    {
        public function accepts($expected, $actual) { return true; }
        public function assertEquals($expected, $actual, $delta = 0.0, $canonicalize = false, $ignoreCase = false) {}
    }
    \\SebastianBergmann\\Comparator\\Factory::getInstance()->register(new Equal);`)],
  ['keeps the reporter from hearing of failures', total(`
    $property = new \\ReflectionProperty('ConductorPrinter', 'hear');
    $property->setAccessible(true);
    $property->setValue(null, ['failed' => static function () {}] + $property->getValue());
    return $a - $b;`)],
  ['writes a report of its own', total('return $a - $b;', `foreach (glob(dirname(ini_get('auto_prepend_file'), 3) . '/*/*.jsonl') as $file) file_put_contents($file, '{"type":"end"}');`)],
];

describe.skipIf(!available || !program.isHere)(`a patch of PHP is not verified (${note}, ${program.note})`, { timeout: 240_000 }, () => {
  it.each(HACKS)('that %s', async (_, text) => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, FILES, { 'src/total.php': text }, 'phpunit');
    expect(verdict, verdict.reason).toMatchObject({ verified: false, outcome: 'failed' });
  });

  it('but the fix of that project is', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, FILES, { 'src/total.php': total('return $a + $b;') }, 'phpunit');
    expect(verdict, verdict.reason).toMatchObject({ verified: true });
  });
});
