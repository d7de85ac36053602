import { describe, expect, it } from 'vitest';
import { chooseRunner } from '../../backend/verify/runners/choose-runner.ts';
import { makeScratch } from './setup.ts';

const partsOf = async (scripts: Readonly<Record<string, string>>, command = 'npm test') => {
  await using scratch = await makeScratch();
  const chosen = await chooseRunner({ command }, await scratch.project({ 'package.json': JSON.stringify({ scripts }) }));
  return chosen && { runner: chosen.runner.name, command: chosen.command, checks: chosen.checks, endsWithTests: chosen.endsWithTests };
};

describe('a test command that does more than test', () => {
  it('is taken apart: linters before the tests, and all that comes after them, are checks', async () => {
    expect(await partsOf({ test: 'pnpm lint && vitest run --typecheck', lint: 'eslint . && prettier -c src' })).toEqual({
      runner: 'vitest', command: 'vitest run --typecheck', checks: ['eslint .', 'prettier -c src'], endsWithTests: true,
    });
    expect(await partsOf({ pretest: 'standard', test: 'mocha', posttest: 'npm audit' })).toEqual({
      runner: 'mocha', command: 'mocha', checks: ['standard', 'npm audit'], endsWithTests: true,
    });
  });

  it('runs the tests whatever prepares them ends with, and fails at the end if that failed', async () => {
    expect(await partsOf({ pretest: 'npm run build', build: 'tsc -p src', test: 'mocha dist' })).toEqual({
      runner: 'mocha',
      command: 'tsc -p src || conductor_failed=$?; mocha dist && (exit ${conductor_failed:-0})',
      checks: [],
      endsWithTests: true,
    });
  });

  it('keeps the first part of a runner that writes one report, and each part of one that can write several', async () => {
    const twice = { test: 'vitest run && yarn test:build && yarn flow check src', 'test:build': 'yarn build && vitest run -c build.ts', build: 'tsup' };
    expect(await partsOf(twice)).toMatchObject({ command: 'vitest run', checks: ['tsup', 'vitest run -c build.ts', 'flow check src'] });
    expect(await partsOf({ test: 'mocha a && tsc --noEmit && mocha b' })).toEqual({
      runner: 'mocha',
      command: 'mocha a || conductor_failed=$?; mocha b && (exit ${conductor_failed:-0})',
      checks: ['tsc --noEmit'],
      endsWithTests: false,
    });
  });

  it('follows a folder and variables, also to what comes later', async () => {
    expect(await partsOf({}, 'cd packages/a && export CI=1 && eslint src && mocha && attw .')).toMatchObject({
      command: 'cd packages/a && export CI=1 && mocha',
      checks: ['cd packages/a && export CI=1 && eslint src', 'cd packages/a && export CI=1 && attw .'],
    });
    expect(await partsOf({ test: 'npm run perf && mocha', perf: 'cd perf && node run.js' })).toMatchObject({
      command: '(cd perf && node run.js) || conductor_failed=$?; mocha && (exit ${conductor_failed:-0})',
    });
  });

  it('measures no coverage, which costs time and fails below a threshold', async () => {
    expect(await partsOf({ test: 'NODE_ENV=test c8 --99 --check-coverage --reporter text mocha -r setup test/*.js' })).toMatchObject({
      command: 'NODE_ENV=test mocha -r setup test/*.js',
    });
  });

  it('runs what npm-run-all names, in turn', async () => {
    expect(await partsOf({ test: 'run-s lint test:*', lint: 'xo', 'test:unit': 'mocha unit', 'test:types': 'tsd', 'test:a:b': 'no' })).toMatchObject({
      command: 'mocha unit', checks: ['xo', 'tsd'],
    });
  });

  it('leaves a line as it is that has alternatives, or no part with tests', async () => {
    expect(await partsOf({ test: 'eslint . && mocha || exit 1' })).toMatchObject({ command: 'eslint . && mocha || exit 1', checks: [] });
    expect(await partsOf({ test: '(eslint . && mocha)' })).toMatchObject({ command: '(eslint . && mocha)', checks: [] });
  });
});
