import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Simulation } from '../../backend/protocol/simulation.ts';
import { conductorCommand } from './run-conductor.ts';

/* Simulated workers that stand in for the pool while `conductor simulate` runs, of the command line as it is built. */

const { places, start, run } = conductorCommand();
afterAll(() => run(['backend', 'stop']));

const poolOf = async (): Promise<{ id: string; enabled: boolean; simulated: boolean }[]> => {
  const { workers } = JSON.parse((await run(['worker', 'list', '--json'])).stdout) as { workers: { worker: { id: string; enabled: boolean; simulated: boolean } }[] };
  return workers.map(({ worker: { id, enabled, simulated } }) => ({ id, enabled, simulated }));
};

/** Starts `conductor simulate --json` and waits until its workers answer. */
async function simulating(...args: readonly string[]) {
  const { child, output, result } = start(['simulate', '--json', ...args]);
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', () => { if (output.stdout.endsWith('\n')) resolve(); });
    result.then(({ stderr }) => reject(new Error(stderr)), reject);
  });
  return { child, result, simulation: JSON.parse(output.stdout) as Simulation };
}

it('lets simulated workers be the pool until Ctrl+C, and an evaluation and a question say so', { timeout: 180_000 }, async () => {
  const mine = { id: 'mine', provider: 'openai-compatible', model: 'm', baseUrl: 'http://127.0.0.1:9/v1' };
  await run(['worker', 'list']);
  await writeFile(path.join(places.home, 'workers.json'), JSON.stringify({ version: 1, workers: [mine] }));

  const { child, result, simulation } = await simulating();
  expect(await poolOf()).toEqual([{ id: 'mine', enabled: false, simulated: false }, ...simulation.workers.map(({ id }) => ({ id, enabled: true, simulated: true }))]);

  const refused = await run(['simulate']);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('A simulation runs already')]);

  const evaluated = await run(['eval', 'gym', '--limit', '2', '--contestants', 'alone', '--json']);
  expect(evaluated.code, evaluated.stderr).toBe(0);
  expect(evaluated.stderr).toContain('They are simulated: the figures show nothing about real models.');
  expect(JSON.parse(evaluated.stdout)).toMatchObject({ simulated: true });
  const otherSeed = await run(['eval', 'gym', '--seed', '2', '--contestants', 'alone', '--json']);
  expect([otherSeed.code, otherSeed.stderr]).toEqual([2, expect.stringContaining('conductor simulate --seed 2')]);

  const solved = await run(['solve', 'What is a closure?', '--json', '--yes', '--workspace', simulation.folder]);
  expect(JSON.parse(solved.stdout), solved.stderr).toMatchObject({ simulated: true });

  child.kill('SIGINT');
  const { code, stderr } = await result;
  expect([code, stderr]).toEqual([0, expect.stringMatching(/The simulation has ended: its workers are out of the pool, and what was adopted from it is taken back\.\n$/)]);
  expect(await poolOf()).toEqual([{ id: 'mine', enabled: true, simulated: false }]);
});

it('refuses a file that is not there', async () => {
  const { code, stderr } = await run(['simulate', 'none.jsonl']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('There is no file')]);
});
