import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { CommandContext } from '../../backend/cli/command.ts';
import { evalCommand } from '../../backend/cli/eval-command.ts';
import { UsageError } from '../../backend/cli/usage-error.ts';

/** Runs the command as far as the evaluation that it opens. */
async function evaluate(...args: readonly string[]): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conductor-eval-command-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(path.join(folder, 'tasks.jsonl'), `${JSON.stringify({ problem: '1 + 1?', answer: '2' })}\n`);
  const terminal: Partial<CommandContext['terminal']> = { result: () => {}, say: () => {}, write: () => {} };
  const context: Partial<CommandContext> = {
    terminal: terminal as CommandContext['terminal'], currentFolder: folder, conductorFolder: path.join(folder, 'home'), interrupted: new AbortController().signal,
    runningSimulation: () => Promise.resolve(undefined), openEvaluation: () => Promise.reject(new Error('It was opened.')),
  };
  return await evalCommand(args, context as CommandContext);
}

it.each([
  [['tasks.jsonl', '--pool', 'simulated,mine'], '--pool takes "simulated" alone, or your workers.'],
  [['tasks.jsonl', '--out', ' '], '--out takes the path of a folder.'],
  [['project', '--workspace', 'nowhere'], /^There is no folder .*nowhere\.$/],
  [['gym', '--check'], '--check reads files; the tasks "gym" are made when they are needed.'],
] as const)('refuses %j as wrong usage', async (args, message) => {
  const failed = evaluate(...args);
  await expect(failed).rejects.toThrow(message);
  await expect(failed).rejects.toBeInstanceOf(UsageError);
});

it('opens an evaluation of what is there', async () => {
  await expect(evaluate('tasks.jsonl', '--pool', 'simulated', '--out', 'results')).rejects.toThrow('It was opened.');
  await expect(evaluate('project', '--workspace', '.')).rejects.toThrow('It was opened.');
  expect(await evaluate('tasks.jsonl', '--check')).toBe(0);
});
