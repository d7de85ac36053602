import { describe, expect, it } from 'vitest';
import { runRequestSchema } from '../../backend/protocol/run-request.ts';
import type { FoundTests } from '../../backend/protocol/test-command.ts';
import { judgingCommand, type Place } from '../../backend/solve/test-command.ts';

const inFolder = (folder: string, runner = 'node-test'): FoundTests => ({ command: `cd ${folder} && ${runner}`, runner, folder });
const PACKAGES = [inFolder('packages/a'), inFolder('packages/b'), inFolder('packages/b/nested'), inFolder('py', 'pytest')];

async function chosenOf(found: readonly FoundTests[], place: Place, testRunner?: string): Promise<string | undefined> {
  const request = runRequestSchema.parse({ question: 'why?', workspace: '/w', ...(testRunner !== undefined && { testRunner }) });
  return (await judgingCommand(request, { findTestCommands: async () => found, runnerOf: async ({ runner }) => runner }, place))?.command;
}

describe('where only packages of the workspace have tests, those run', () => {
  it.each<[string, readonly string[], string]>([
    ['of the package of the surest file', ['README.md', 'packages/b/src/index.js', 'packages/a/src/index.js'], 'cd packages/b && node-test'],
    ['of the innermost package around it', ['packages/b/nested/x.js'], 'cd packages/b/nested && node-test'],
    ['of the likeliest where none is around a file', ['packages/bb/x.js', 'x.js'], 'cd packages/a && node-test'],
  ])('%s', async (_, about, command) => {
    expect(await chosenOf(PACKAGES, { about: async () => about })).toBe(command);
  });

  it('of the runner that was named', async () => {
    expect(await chosenOf(PACKAGES, { about: async () => ['packages/b/x.js'] }, 'pytest')).toBe('cd py && pytest');
  });

  it('that ran before in the same run, whatever is known by now', async () => {
    expect(await chosenOf(PACKAGES, { before: 'cd packages/b && node-test', about: async () => ['packages/a/x.js'] })).toBe('cd packages/b && node-test');
  });
});

it('asks for no files where the workspace itself has tests', async () => {
  const about = (): never => {
    throw new Error('asked');
  };
  expect(await chosenOf([{ command: 'npm test', runner: 'jest', folder: '' }, ...PACKAGES], { about })).toBe('npm test');
});

it('judges by the tests of one package where the command runs those of all, which then counts by its exit code', async () => {
  const checker = { findTestCommands: async () => [], testsRunBy: async (command: string) => (command === 'npm test' ? PACKAGES : []), runnerOf: async ({ runner }: { runner?: string }) => runner ?? 'exit-code' };
  const judging = async (testCommand: string) => await judgingCommand(runRequestSchema.parse({ question: 'why?', workspace: '/w', testCommand }), checker, { about: async () => ['packages/b/x.js'] });
  expect(await judging('npm test')).toEqual({ command: 'cd packages/b && node-test', runner: 'node-test', packages: PACKAGES, besides: ['npm test'] });
  expect(await judging('make test')).toEqual({ command: 'make test', runner: 'exit-code' });
});
