import { homedir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';
import { MemoryBaseRunCache } from '../../backend/verify/judge/base-run-cache.ts';
import { Sandbox } from '../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../backend/verify/verify.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import { tryProgram, type Files } from './runners/setup.ts';
import { makeScratch, trySandbox } from './setup.ts';

const { available, note } = await trySandbox();
const go = tryProgram('go', 'version');
const phpunit = tryProgram('phpunit', '--version');
const python = tryProgram('python3', '-m', 'pytest', '--version');

interface Unseen {
  readonly files: Files;
  /** The right answer, in a file that the tests do not run. */
  readonly file: string;
  readonly fixed: string;
  readonly command: string;
  readonly told: string;
}

const HALF = 'export const half = (number) => number / 3;\n';
const halfTest = (from: string): string =>
  `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { half } from '${from}';\ntest('halves', () => assert.equal(half(4), 2));\n`;
const packageOf = (name: string, rest: object = {}): string => JSON.stringify({ name, type: 'module', ...rest });
const notRun = (file: string): string => `The tests do not seem to run ${file}: they end the same where it holds no code.`;

const JAVASCRIPT: Record<string, Unseen> = {
  'what a build made of them, which Git has': {
    files: {
      'package.json': packageOf('half', { main: 'dist/half.js', scripts: { build: 'cat src/half.js > dist/half.js', test: 'node --test' } }),
      'src/half.js': HALF,
      'dist/half.js': `// made\n${HALF}`,
      'test/half.test.js': halfTest('../dist/half.js'),
    },
    file: 'src/half.js', fixed: HALF.replace('3', '2'), command: 'node --test',
    told: `${notRun('src/half.js')} They may run dist/half.js, which a build makes: name a test command that begins with "npm run build".`,
  },
  'a copy of the package that was installed, where others have a link': {
    files: {
      'package.json': packageOf('root'),
      'packages/half/package.json': packageOf('half', { exports: './half.js' }),
      'packages/half/half.js': HALF,
      'packages/app/package.json': packageOf('app', { dependencies: { half: 'file:../half' } }),
      'packages/app/node_modules/half/package.json': packageOf('half', { exports: './half.js' }),
      'packages/app/node_modules/half/half.js': HALF,
      'packages/app/app.test.js': halfTest('half'),
    },
    file: 'packages/half/half.js', fixed: HALF.replace('3', '2'), command: 'cd packages/app && node --test',
    told: `${notRun('packages/half/half.js')} They may run its copy, packages/app/node_modules/half.`,
  },
  'something else altogether': {
    files: { 'package.json': packageOf('half'), 'old.js': `${HALF}// Nobody imports this.\n`, 'half.js': HALF, 'half.test.js': halfTest('./half.js') },
    file: 'old.js', fixed: HALF.replace('3', '2'), command: 'node --test',
    told: notRun('old.js'),
  },
};

const GO: Unseen = {
  files: {
    'go.mod': 'module example.com/app\n\ngo 1.21\n\nrequire example.com/half v0.0.0\n\nreplace example.com/half => ./half\n',
    'app_test.go': 'package app\n\nimport (\n\t"testing"\n\n\t"example.com/half"\n)\n\nfunc TestHalf(t *testing.T) {\n\tif got := half.Half(4); got != 2 {\n\t\tt.Errorf("half of 4 is %d", got)\n\t}\n}\n',
    'app.go': 'package app\n',
    'half/go.mod': 'module example.com/half\n\ngo 1.21\n',
    'half/half.go': 'package half\n\nfunc Half(number int) int { return number / 3 }\n',
    'vendor/modules.txt': '# example.com/half v0.0.0 => ./half\n## explicit; go 1.21\nexample.com/half\n# example.com/half => ./half\n',
    'vendor/example.com/half/half.go': 'package half\n\nfunc Half(number int) int { return number / 3 }\n',
  },
  file: 'half/half.go', fixed: 'package half\n\nfunc Half(number int) int { return number / 2 }\n', command: 'go test ./...',
  told: `${notRun('half/half.go')} They may run its copy, vendor/example.com/half/half.go.`,
};

const C: Unseen = {
  files: {
    'pyproject.toml': '[project]\nname = "half"\nversion = "1"\n',
    'half/__init__.py': 'try:\n    from half._half import half\nexcept ImportError:\n    def half(number):\n        return number / 3\n',
    'half/_half.c': '#include <Python.h>\n',
    'tests/test_half.py': 'from half import half\n\ndef test_half():\n    assert half(4) == 2\n',
  },
  file: 'half/_half.c', fixed: '#include <Python.h>\n\nint half(int number) { return number / 2; }\n', command: 'python3 -m pytest',
  told: `${notRun('half/_half.c')} It has to be compiled, which nothing does before they run: name a test command that does.`,
};

/** How often the tests ran, and the verdict. */
async function judged({ files, file, fixed, command }: Omit<Unseen, 'told'>, options: { readonly nothingFailed?: 'run'; readonly tellsNotRun?: boolean } = {}): Promise<{ verdict: Verdict; runs: number }> {
  await using scratch = await makeScratch();
  const base = await scratch.project(files);
  let runs = 0;
  // With the build cache of the user, so that go compiles little.
  const sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: homedir(), folders: scratch.folders });
  const verifier = new Verifier({
    ...scratch, baseRuns: new MemoryBaseRunCache(),
    sandbox: {
      pinnedImage: (image) => sandbox.pinnedImage(image),
      run: (given) => {
        if (/--test|pytest|go test/.test(given.command)) runs += 1;
        return sandbox.run(given);
      },
    },
  });
  const patch = await parsePatch(`\`\`\` title="${file}"\n${fixed.replace(/\n$/, '')}\n\`\`\`\n`, base);
  const verdict = await verifier.verify({ base, patch, command, signal: new AbortController().signal, timeoutMs: 120_000, ...options });
  return { verdict, runs };
}

const tells = async (unseen: Unseen): Promise<void> => {
  const { verdict } = await judged(unseen);
  expect(verdict).toMatchObject({ verified: false, outcome: 'failed', score: 0, reason: `Of 1 test that failed before, 1 still did not pass. ${unseen.told}` });
};

describe.skipIf(!available)(`a change of files that the tests do not run fails and is told (${note})`, { timeout: 240_000 }, () => {
  it.each(Object.entries(JAVASCRIPT))('where they run %s', (_, unseen) => tells(unseen));
  it.runIf(go.isHere)(`where they run a vendored copy (${go.note})`, () => tells(GO));
  it.runIf(python.isHere)(`where nothing compiles them (${python.note})`, () => tells(C));
});

describe.skipIf(!available)(`a change after which every test ends as before (${note})`, { timeout: 120_000 }, () => {
  const { files } = JAVASCRIPT['something else altogether'] as Unseen;

  it('is not said to be elsewhere where the tests run its file, and a wrong answer that shows costs no run', async () => {
    const inert = await judged({ files, file: 'half.js', fixed: `${HALF}// Not mended.\n`, command: 'node --test' });
    expect(inert).toMatchObject({ verdict: { outcome: 'failed', reason: 'Of 1 test that failed before, 1 still did not pass.' }, runs: 4 });
    const wrong = await judged({ files, file: 'half.js', fixed: HALF.replace('3', '4'), command: 'node --test' });
    expect(wrong).toMatchObject({ verdict: { outcome: 'failed', reason: 'Of 1 test that failed before, 1 still did not pass.' }, runs: 3 });
  });

  it.runIf(phpunit.isHere)(`is not said to be elsewhere where no test was reached before (${phpunit.note})`, async () => {
    const unset = {
      'phpunit.xml': '<?xml version="1.0"?>\n<phpunit bootstrap="tests/start.php"><testsuites><testsuite name="all"><directory>tests</directory></testsuite></testsuites></phpunit>\n',
      'tests/start.php': "<?php\necho 'HALF is not set';\nexit(1);\n",
      'tests/HalfTest.php': "<?php\nrequire_once __DIR__ . '/../half.php';\nfinal class HalfTest extends PHPUnit\\Framework\\TestCase\n{\n    public function testFour(): void\n    {\n        $this->assertSame(2, half(4));\n    }\n}\n",
      'half.php': '<?php\nfunction half($number) { return intdiv($number, 3); }\n',
    };
    const { verdict } = await judged({ files: unset, file: 'half.php', fixed: '<?php\nfunction half($number) { return intdiv($number, 2); }\n', command: 'phpunit' });
    expect(verdict).toMatchObject({ outcome: 'failed', reason: 'The tests came to their end neither before the change nor with it (Output of the command: HALF is not set).' });
  });

  it('costs no run more where nobody wants to know', async () => {
    const unseen = await judged({ files, file: 'old.js', fixed: HALF.replace('3', '2'), command: 'node --test' }, { tellsNotRun: false });
    expect(unseen).toMatchObject({ verdict: { outcome: 'failed', reason: 'Of 1 test that failed before, 1 still did not pass.' }, runs: 3 });
  });

  it('passes where no test failed, and it is told that they do not run it', async () => {
    const green = { ...files, 'half.js': HALF.replace('3', '2') };
    const { verdict } = await judged({ files: green, file: 'old.js', fixed: HALF, command: 'node --test' }, { nothingFailed: 'run' });
    expect(verdict).toMatchObject({ verified: false, outcome: 'passes', reason: `No test failed before the change, and 1 test passes with it. It is not shown that they would notice a wrong change. ${notRun('old.js')}` });
    const seen = await judged({ files: green, file: 'half.js', fixed: `${HALF.replace('3', '2')}// Same.\n`, command: 'node --test' }, { nothingFailed: 'run' });
    expect(seen.verdict.reason).toBe('No test failed before the change, and 1 test passes with it. It is not shown that they would notice a wrong change.');
  });
});
