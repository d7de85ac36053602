import { describe, expect, it } from 'vitest';
import { exitCode } from '../../../backend/verify/runners/exit-code.ts';

type Ended = Parameters<Awaited<ReturnType<typeof exitCode.prepare>>['readReport']>[0];

async function reportOf(code: number, said: string) {
  const command = 'npm run check';
  const { readReport } = await exitCode.prepare({ command, copy: '/nowhere', shown: '/nowhere', workspace: '/nowhere', tools: '/nowhere', report: '/nowhere' });
  return await readReport({ exitCode: code, said } as Ended);
}

describe('a command that tells by its exit code', () => {
  it.each([
    ['npm', 1, 'npm error Missing script: "check"'],
    ['pnpm', 1, ' ERR_PNPM_NO_SCRIPT  Missing script: check'],
    ['Yarn 1', 1, 'yarn run v1.22.22\nerror Command "check" not found.'],
    ['Yarn 4', 1, 'Usage Error: Couldn\'t find a script named "check".'],
    ['Bun', 1, 'error: Script not found "check"'],
    ['make', 2, "make: *** No rule to make target 'check'.  Stop."],
    ['a shell', 127, 'sh: 1: check: not found'],
  ])('has not failed, but was not started, where %s knows no such thing', async (_name, code, said) => {
    await expect(reportOf(code, said)).rejects.toThrow('"npm run check" could not be started.');
  });

  it.each([
    ["make: *** No rule to make target 'list.c', needed by 'list.o'.  Stop."],
    ['AssertionError: expected a Command "check" not found'],
  ])('has failed with what it printed: %s', async (said) => {
    expect((await reportOf(2, said)).results).toMatchObject([{ status: 'failed', message: said }]);
  });

  it('has passed by exiting with 0, whatever it printed', async () => {
    expect((await reportOf(0, 'npm error Missing script: "check"')).results).toMatchObject([{ status: 'passed' }]);
  });
});
