import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { alterExpectations } from '../../../backend/verify/control/alter-expectations.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** The file with these members of a class of tests, after the test of that name was altered; undefined if it is not sure that it fails then. */
async function alter(members: string, test = 'testIt', others: Readonly<Record<string, string>> = {}): Promise<string | undefined> {
  const folder = await temporaryFolder();
  const file = 'ATest.php';
  const files = { [file]: `<?php\nclass ATest extends Base\n{\n${members}\n}\n`, ...others };
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
  const id = `${file} > ATest > ${test}`;
  const { certain, texts } = await alterExpectations({ folder, paths: new Set(Object.keys(files)), runner: { name: 'phpunit', idRoot: 'file' }, ids: [id] });
  return certain.has(id) ? texts.get(file) : undefined;
}

const test = (body: string, before = ''): string => `${before} public function testIt(): void { ${body} }`;

describe('in PHP, the negative control alters what an assertion expects', () => {
  it.each([
    ['a number', test('$this->assertSame(600, f(1));'), /assertSame\((?!600)\d{3}, f\(1\)\)/],
    ['a text, also in comments', test("/* first */ self::assertEquals('first', f(1), 'no');"), /\/\* (?!first)([a-z]{5}) \*\/ self::assertEquals\('\1', f\(1\), 'no'\)/],
    ['one item', test("static::assertSame(['a' => 600], f(1));"), /\['a' => (?!600)\d{3}\]/],
    ['null, by what is not equal to it either', test('$this->assertEquals(null, f(1));'), /assertEquals\(true, f\(1\)\)/],
    ['a truth, by the opposite', test('$this->assertTrue(f(1));'), /assertFalse\(f\(1\)\)/],
    ['a number beyond its tolerance', test('$this->assertEqualsWithDelta(-1.5, f(1), 0.01);'), /-[2-9]\.5, f/],
    ['all of a text that is looked for', test("$this->assertStringContainsString('needle', f(1));"), /String\('(?!.*needle)[a-z]{6}'/],
    ['a class of errors, before the error comes', test('$this->expectException(\\A\\B::class); f(1); $this->assertSame(600, g());'), /expectException\(\\(?!A)\w+::class\); f\(1\); \$this->assertSame\(600/],
    ['a local variable', test('$want = 600; $got = f(1); $this->assertSame($want, $got, "not $want");'), /\$want = (?!600)\d{3};/],
    ['a text in a heredoc', test('$this->assertSame(<<<EOT\n  first\n  EOT, f(1));'), / {2}(?!first)[a-z]{5}\n {2}EOT/],
    ['a text or a number that an object is made with', test("$this->assertEquals(new Token(true, 600), f(1));"), /new Token\(true, (?!600)\d{3}\)/],
    ['a text that a helper trims', test("$want = 'first'; $this->assertSame($this->plain($want), f(1));", 'private function plain($text) { return trim(str_replace("\\r\\n", "\\n", $text)); }'), /\$want = '(?!first)[a-z]{5}'/],
    ['a constant', test('$this->assertSame(self::WANT, f(1));', 'private const WANT = 600;'), /WANT = (?!600)\d{3};/],
    ['the values of a loop', test("foreach (['a' => 600, 'b' => 700] as $in => $want) { $this->assertSame($want, f($in)); }"), /'a' => (?!600)\d{3}, 'b' => (?!700)\d{3}\]/],
    ['what a helper is given', test("$this->check('a', 600);", 'private function check(string $in, $want): void { $this->assertSame($want, f($in)); }'), /check\('a', (?!600)\d{3}\)/],
  ])('such as %s', async (_, members, altered) => {
    for (let drawn = 0; drawn < 3; drawn += 1) expect(await alter(members)).toMatch(altered);
  });

  it.each([
    ['a returned array', '/** @dataProvider rows */ public function testIt($in, $want): void { $this->assertSame($want, f($in)); } public static function rows() { return [[1, 600], \'x\' => [2, 700]]; }'],
    ['what is yielded', '#[DataProvider(\'rows\')] public function testIt($in, $want): void { $this->assertSame($want, f($in)); } public static function rows() { yield [1, 600]; yield \'x\' => [2, 700]; }'],
  ])('in the set of data that a test is run with: %s', async (_, members) => {
    expect(await alter(members, 'testIt with data set #0')).toMatch(/\[1, (?!600)\d{3}\].*\[2, 700\]/);
    expect(await alter(members, 'testIt with data set "x"')).toMatch(/\[1, 600\].*\[2, (?!700)\d{3}\]/);
  });

  it.each([
    ['in a loop', 'foreach (all() as $in => $want) { yield [$in, $want]; }'],
    ['by a function', 'return array_map(f(...), [1, 2]);'],
  ])('in the place of what comes from sets of data that are computed %s', async (_, provider) => {
    const members = `/** @dataProvider rows */ public function testIt($in, $want): void { $this->assertSame($want, f($in)); $this->assertEquals($want, g($in)); } public static function rows() { ${provider} }`;
    for (const data of ['#0', '"x"']) expect(await alter(members, `testIt with data set ${data}`)).toMatch(/assertSame\(\d{5}, f\(\$in\)\); \$this->assertEquals\(\$want,/);
  });

  it('in another way for each of two that stand in one row', async () => {
    const folder = await temporaryFolder();
    const text = "<?php\nclass ATest extends Base\n{\n/** @dataProvider rows */ public function testTo($a, $b): void { $this->assertSame($b, f($a)); }\n/** @dataProvider rows */ public function testFrom($a, $b): void { $this->assertSame($a, g($b)); }\npublic static function rows() { return [['0', '0']]; }\n}\n";
    await writeFile(path.join(folder, 'ATest.php'), text);
    const ids = ['testTo', 'testFrom'].map((name) => `ATest.php > ATest > ${name} with data set #0`);
    for (let drawn = 0; drawn < 40; drawn += 1) {
      const { texts } = await alterExpectations({ folder, paths: new Set(['ATest.php']), runner: { name: 'phpunit', idRoot: 'file' }, ids });
      expect(texts.get('ATest.php')).not.toMatch(/\[\['(.)', '\1'\]\]/);
    }
  });

  it('in what a test is given that another file has', async () => {
    const base = { 'Base.php': "<?php abstract class Base extends TestCase { abstract public static function rows(); /** @dataProvider rows */ public function testIt($in, $want) { $this->same($want, f($in)); $this->assertTrue(g()); } protected function same($want, $got) { $this->assertSame($want, $got); } }" };
    expect(await alter('public static function rows() { return [[1, 600]]; }', 'testIt with data set #0', base)).toMatch(/\[1, (?!600)\d{3}\]/);
    expect(await alter('public function testOwn() { $this->same(600, f(1)); }', 'testOwn', base)).toMatch(/same\((?!600)\d{3}, f/);
  });

  it.each([
    ['an assertion that may not be reached', test('if (f(1)) { return; } $this->assertSame(600, g());')],
    ['what the code under test is given, too', test('$want = 600; $this->assertSame($want, f($want));')],
    ['an object that has to be the same', test('$this->assertSame(new Token(600), f(1));')],
    ['what is computed', test('$this->assertSame(g(600), f(1));')],
    ['a test that expects an assertion to fail', test('$this->expectException(AssertionFailedError::class); $this->assertSame(600, f(1));')],
  ])('but not %s', async (_, members) => {
    expect(await alter(members)).toBeUndefined();
  });
});
