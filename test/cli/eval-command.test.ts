import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { CommandContext } from '../../backend/cli/command.ts';
import { evalCommand } from '../../backend/cli/eval-command.ts';
import { UsageError } from '../../backend/cli/usage-error.ts';
import { EvaluationRequestError } from '../../backend/eval/evaluation/request-error.ts';

const KEPT = { folder: '/home/evaluations/0123456789ab', state: 'over', sources: ['gym'], startedAt: 0, simulated: false, done: 3, all: 3, isPractice: false, spentUsd: 0.25 };

/** Runs `conductor eval ACTION`, with a backend that keeps one evaluation. */
async function kept(args: readonly string[], answer = false) {
  const [said, results, requests] = [[] as string[], [] as string[], [] as [string, unknown][]];
  const client = {
    request: (method: string, params: unknown) => {
      requests.push([method, params]);
      return Promise.resolve(method === 'evaluation/list' ? { evaluations: [KEPT] } : KEPT);
    },
    close: () => {},
  };
  const terminal = { result: (text: string) => void results.push(text), say: (text: string) => void said.push(text), ask: () => Promise.resolve(answer) };
  const context = { terminal, currentFolder: '/here', interrupted: new AbortController().signal, connect: () => Promise.resolve(client) };
  const code = await evalCommand(args, context as unknown as CommandContext).catch((error: unknown) => error);
  return { code, said, results, removed: requests.filter(([method]) => method === 'evaluation/remove').map(([, params]) => params) };
}

it('lists the evaluations that are kept', async () => {
  expect((await kept(['list'])).results).toEqual([expect.stringMatching(/^0123456789ab {2}over {2}3 of 3 answers {2}\$0\.25 .* gym$/)]);
  expect(JSON.parse((await kept(['list', '--json'])).results.join(''))).toEqual([KEPT]);
  expect((await kept(['list', 'one'])).code).toBeInstanceOf(UsageError);
});

it('removes one by its name or folder, and asks before, with what it has cost', async () => {
  const { code, said, removed } = await kept(['remove', '0123456789ab'], true);
  expect([code, removed]).toEqual([0, [{ folder: KEPT.folder }]]);
  expect(said[0]).toContain('$0.25');
  expect((await kept(['remove', 'results', '--yes'])).removed).toEqual([{ folder: '/here/results' }]);
  const declined = await kept(['remove', '0123456789ab']);
  expect(declined.code).toBeInstanceOf(UsageError);
  expect(declined.removed).toEqual([]);
  expect((await kept(['remove'])).code).toBeInstanceOf(UsageError);
});

/** Runs the command as far as the evaluation that it opens. */
async function evaluate(...args: readonly string[]): Promise<number> {
  return await evaluateUntil(new AbortController().signal, [], args);
}

async function evaluateUntil(interrupted: AbortSignal, said: string[], args: readonly string[], opened = new Error('It was opened.')): Promise<number> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conductor-eval-command-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(path.join(folder, 'tasks.jsonl'), `${JSON.stringify({ problem: '1 + 1?', answer: '2' })}\n`);
  const terminal: Partial<CommandContext['terminal']> = { result: () => {}, say: (text) => void said.push(text), write: () => {} };
  const context: Partial<CommandContext> = {
    terminal: terminal as CommandContext['terminal'], currentFolder: folder, conductorFolder: path.join(folder, 'home'), interrupted,
    runningSimulation: () => Promise.resolve(undefined), openEvaluation: () => Promise.reject(opened),
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

it('takes what the evaluation refuses for wrong usage, too', async () => {
  const refused = evaluateUntil(new AbortController().signal, [], ['tasks.jsonl', '--best', 'nobody'], new EvaluationRequestError('There is no such worker.'));
  await expect(refused).rejects.toEqual(new UsageError('There is no such worker.'));
});

it('says after Ctrl+C while tasks of a project are made that the same command goes on', async () => {
  const said: string[] = [];
  await expect(evaluateUntil(AbortSignal.abort(), said, ['project', '--workspace', '.'])).rejects.toThrow('It was opened.');
  expect(said).toEqual(['The same command goes on where this one stopped.']);
  await expect(evaluateUntil(new AbortController().signal, said, ['project', '--workspace', '.'])).rejects.toThrow('It was opened.');
  expect(said).toHaveLength(1);
});

it('opens an evaluation of what is there', async () => {
  await expect(evaluate('tasks.jsonl', '--pool', 'simulated', '--out', 'results')).rejects.toThrow('It was opened.');
  await expect(evaluate('project', '--workspace', '.')).rejects.toThrow('It was opened.');
  expect(await evaluate('tasks.jsonl', '--check')).toBe(0);
});
