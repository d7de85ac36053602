import { describe, expect, it } from 'vitest';
import { chooseRunner } from '../../../backend/verify/runners/choose-runner.ts';
import { expandScripts } from '../../../backend/verify/runners/package-scripts.ts';
import { makeScratch } from '../setup.ts';

type Scripts = Readonly<Record<string, string>>;

const SCRIPTS: Scripts = { 'unit': 'mocha -r setup', 'lint': 'eslint .', 'test:unit': 'vitest run', 'test:types': 'tsc --noEmit', 'test:a:b': 'jest', 'both': 'npm run lint && npm run unit', 'mode': 'MODE=1 mocha' };

const PACKAGES = {
  'packages/shop/package.json': JSON.stringify({ name: '@acme/shop', scripts: { test: 'jest' } }),
  'web/package.json': JSON.stringify({ name: 'web', scripts: { test: 'ava', unit: 'tape' } }),
};

/** What a command is expanded to, where it is the root of a project with these packages. */
async function expanded(command: string, more: object = {}): Promise<string> {
  await using scratch = await makeScratch();
  return await expandScripts(command, await scratch.project({ 'package.json': JSON.stringify({ scripts: SCRIPTS, ...more }), ...PACKAGES }));
}

describe('a script is found', () => {
  it.each([
    ['nyc yarn unit', 'mocha -r setup'],
    ['nyc --reporter=lcov npm run unit -- --bail', 'mocha -r setup --bail'],
    ['npx c8 -r text pnpm unit && npm run lint', 'mocha -r setup && eslint .'],
    ['c8 --check-coverage --lines 100 -- npm run both', 'eslint . && mocha -r setup'],
    ['nyc run-s lint unit', 'eslint . && mocha -r setup'],
    ['CI=1 c8 npm run unit', 'CI=1 mocha -r setup'],
  ])('behind a program that measures coverage, which is left out: %s', async (command, text) => {
    expect(await expanded(command)).toBe(text);
  });

  it.each([
    ['dotenv -e .env.test -- npm run unit', 'dotenv -e .env.test -- mocha -r setup'],
    ['env-cmd -f .env yarn unit', 'env-cmd -f .env mocha -r setup'],
    ['xvfb-run -a npm run unit', 'xvfb-run -a mocha -r setup'],
    ['cross-env MODE=2 npm run unit', 'cross-env MODE=2 mocha -r setup'],
    // One of these programs can start a program, and no line of a shell.
    ['dotenv -- npm run both', 'dotenv -- npm run both'],
    ['dotenv -- npm run mode', 'dotenv -- npm run mode'],
    ['echo npm run unit', 'echo npm run unit'],
  ])('behind one that sets up another: %s', async (command, text) => {
    expect(await expanded(command)).toBe(text);
  });

  it.each([
    ['pnpm run /^test:/', 'vitest run && tsc --noEmit && jest'],
    ["pnpm run '/^test:.*/'", 'vitest run && tsc --noEmit && jest'],
    ['pnpm run "/^(test:a|lint)+$/"', 'pnpm run "/^(test:a|lint)+$/"'],
    ['pnpm run /^none:/', 'pnpm run /^none:/'],
    ['concurrently "npm:test:*"', 'vitest run && tsc --noEmit && jest'],
    ['concurrently --kill-others-on-fail -n a,b "npm:lint" "yarn:unit -- --bail" "npm run test:unit"', 'eslint . && mocha -r setup --bail && vitest run'],
    ['concurrently -k "npm:serve" "npm:unit"', 'concurrently -k "npm:serve" "npm:unit"'],
    ['run-s "lint" "unit -- --bail"', 'eslint . && mocha -r setup --bail'],
    ['run-p test:*', 'vitest run && tsc --noEmit'],
  ])('where several are run at once: %s', async (command, text) => {
    expect(await expanded(command)).toBe(text);
  });

  it.each([
    ['npm run unit --silent', 'mocha -r setup'],
    ['pnpm --silent run unit', 'mocha -r setup'],
    ['yarn -s unit --bail', 'mocha -r setup --bail'],
    ['node --run unit -- --bail', 'mocha -r setup --bail'],
    ['npm run unit --workspaces', 'npm run unit --workspaces'],
  ])('behind options of the program that runs it: %s', async (command, text) => {
    expect(await expanded(command)).toBe(text);
  });

  it.each([
    ['npm --prefix web run unit', 'cd web && tape'],
    ['pnpm -C ./web test', 'cd ./web && ava'],
    ['yarn --cwd=web unit', 'cd web && tape'],
    ['npm test -w packages/shop', 'cd packages/shop && jest'],
    ['npm test --workspace=@acme/shop -- --ci', 'cd packages/shop && jest --ci'],
    ['pnpm --filter @acme/shop test && yarn workspace web unit', '(cd packages/shop && jest) && (cd web && tape)'],
    ['pnpm --filter ./packages/** test', 'pnpm --filter ./packages/** test'],
    ['npm test -w web -w packages/shop', 'npm test -w web -w packages/shop'],
    ['yarn workspace none test', 'yarn workspace none test'],
  ])('in the package that is named: %s', async (command, text) => {
    expect(await expanded(command)).toBe(text);
  });

  it('where wireit has its command, after those of the scripts that it needs, each once', async () => {
    const wireit = (tasks: object): Promise<string> => expanded('npm test', { scripts: { ...SCRIPTS, test: 'wireit' }, wireit: tasks });
    const build = { command: 'tsc', dependencies: ['../util:build'] };
    expect(await wireit({ test: { command: 'mocha', dependencies: ['build', { script: 'data' }] }, build, data: { command: 'node data.js', dependencies: ['build'] } }))
      .toBe('(cd ../util && npm run build) && tsc && node data.js && mocha');
    expect(await wireit({ test: { dependencies: ['unit'] }, unit: { command: 'mocha', dependencies: ['test'] } })).toBe('mocha');
    for (const needs of ['^build', 'serve', 'none'])
      expect(await wireit({ test: { command: 'mocha', dependencies: [needs] }, serve: { command: 'node', service: true } })).toBe('npm test');
  });
});

describe("Node's test runner is found by other names", () => {
  it.each([
    ['bnt', "NODE_ENV=test node --test --experimental-strip-types $(find . -name node_modules -prune -o -name .git -prune -o -type f '(' -name '*.test.[jt]s' -o -name '*.spec.[jt]s' ')' -print)"],
    ["c8 bnt test/a.test.ts -t 'adds up' --coverage 100", "NODE_ENV=test node --test --experimental-strip-types '--test-name-pattern=adds up' test/a.test.ts"],
    ['tsx --test test/*.ts', 'node --import tsx --test test/*.ts'],
    ['glob -c "tsx --test" "test/**/*.ts"', 'node --import tsx --test $(glob "test/**/*.ts")'],
  ])('%s', async (command, text) => {
    expect(await expanded(command)).toBe(text);
    await using scratch = await makeScratch();
    expect((await chooseRunner({ command }, await scratch.project({ 'package.json': '{}' })))?.runner.name).toBe('node-test');
  });

  it('and not where these programs do something else', async () => {
    for (const command of ['bnt --watch', 'tsx src/index.ts', 'glob "src/**"', 'glob -c "prettier" "src/**"']) expect(await expanded(command)).toBe(command);
  });
});
