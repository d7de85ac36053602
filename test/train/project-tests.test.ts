import { expect, it } from 'vitest';
import { projectTests } from '../../backend/train/trainings/judge.ts';

it('judges tasks of a project by one command, which is all that is kept with them', async () => {
  const packages = ['packages/a', 'packages/b'].map((folder) => ({ folder, command: `cd ${folder} && node --test`, runner: 'node-test' }));
  const parts = { findTestCommands: async () => packages, runnerOf: async () => 'node-test' };
  expect(await projectTests(parts, { workspace: '/shop', config: { tasks: { project: true } } })).toEqual({ command: 'cd packages/a && node --test', runner: 'node-test' });
});
