import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { BASELINES, isAlone } from '../../eval/contestant.ts';
import { drawLearning } from '../gym/draw-learning.ts';
import { BEST_ALONE, standingsTable, withVariantsApart } from '../../eval/standings.ts';
import { gymStandings, poolsTable, readGymResult } from '../gym/gym-result.ts';
import { TRAINING_POOL } from '../gym/gym-pools.ts';

/* What trainings on the gym came to: reads docs/gym/seed-N*.json, writes docs/gym/README.md and pictures beside it. */

const folder = fileURLToPath(new URL('../../../docs/gym', import.meta.url));
const names = await readdir(folder);
const files = names.filter((name) => /^seed-\d+\.json$/.test(name)).sort();
if (files.length === 0) {
  process.stderr.write('There is no result in docs/gym. Make one: node with-node.mjs node backend/lab.ts gym-train\n');
  process.exitCode = 1;
} else await tell();

async function tell(): Promise<void> {
  const results = await Promise.all(files.map((name) => readGymResult(path.join(folder, name))));
  const [fixed, unseen] = [gymStandings(results, 'fixed'), gymStandings(results, 'unseen')];
  const levels = [BASELINES.random, BEST_ALONE, BASELINES.mixture, BASELINES.oracle].flatMap((name) => {
    const found = fixed.find((standing) => standing.name === name);
    return found ? [{ name: name.replace(/,.*/, ''), share: found.right.mean }] : [];
  });
  const trainings = results.map(({ metrics, plans }) => ({
    verified: metrics.map(({ verified_rate }) => verified_rate ?? 0), format: metrics.map(({ format_rate }) => format_rate ?? 0), plans,
  }));
  const others = await Promise.all(names.filter((name) => /^seed-\d+-(?:fixed|random)-pools\.json$/.test(name)).sort()
    .map((name) => readGymResult(path.join(folder, name))));
  const withWants = await Promise.all(names.filter((name) => /^seed-\d+-wants\.json$/.test(name)).sort().map((name) => readGymResult(path.join(folder, name))));
  const ofSameSeeds = results.filter(({ seed }) => others.some((other) => other.seed === seed));
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'learning.svg'), drawLearning(trainings, levels, TRAINING_POOL.map(({ name }) => name)));
  const tasks = results[0]?.heldOut.length ?? 0;
  await writeFile(path.join(folder, 'README.md'), [
    '# What conductor-mini learns in the gym',
    '',
    'A simulation: workers with made-up skills and prices, behind real wire formats, on small programming tasks whose answers are really executed and',
    'tested. It shows that the trainer makes a Conductor better at conducting; it shows nothing about real models. The parameters were committed before',
    'the first training. This page is written by `node with-node.mjs node backend/lab.ts gym-results` from the files beside it, each of which is one',
    'training: `npm run train:gym -- --model docs/gym/imitated --seed N`; `imitated` is the model that all of them began with, which has learned by imitation',
    'alone. Half of the tasks are planned for the one pool that is measured first, half for five workers of a roster of fifteen, drawn anew for each. Beside',
    'the reinforcement, each step imitates four texts of later rounds, so that they are not forgotten.',
    '',
    `![${trainings.length === 1 ? 'One training' : `${trainings.length} trainings`}: verified answers along the steps, lengths of plans, roles of steps, and who writes for which kind of question](learning.svg)`,
    '',
    `Held-out tasks: ${tasks} a seed, from generators, phrasings and parameters that no training has seen, each asked once, plans sampled at temperature 1`,
    'without constraint. 95 % intervals by the bootstrap over tasks and seeds.',
    '',
    '## The pool that was trained on',
    '',
    standingsTable(withVariantsApart(fixed).contestants),
    '## Pools whose workers no training has met',
    '',
    standingsTable(withVariantsApart(unseen).contestants),
    '## What matters in a plan',
    '',
    'The same plans with something taken away, and the Conductor where it can write nothing but plans, or writes what it finds most likely, still without',
    'constraint. On the pool that was trained on:',
    '',
    standingsTable(withVariantsApart(fixed).variants, fixed),
    'On the pools whose workers no training has met:',
    '',
    standingsTable(withVariantsApart(unseen).variants, unseen),
    ...(others.length === 0 ? [] : [
      '## What pools teach', '', 'Trainings of one seed whose tasks were planned for one pool, for drawn ones, or for both in turn.', '', poolsTable([...others, ...ofSameSeeds]),
    ]),
    ...(withWants.length === 0 ? [] : [
      '## With other wants among the tasks', '',
      `${withWants.length} trainings of ${String(withWants[0]?.options['steps'])} steps with 180 tasks of other wants beside the 360 that want code (\`--steps 150 --wants 180\`), and workers`,
      'that mind what they are told. The bundled model is the mean of these: [wants.md](wants.md) has its figures. Held-out tasks that want code, on the pool that was',
      'trained on:', '',
      standingsTable(withVariantsApart(gymStandings(withWants, 'fixed')).contestants.filter(({ name }) => !isAlone(name))),
      'On the pools whose workers no training has met:', '',
      standingsTable(withVariantsApart(gymStandings(withWants, 'unseen')).contestants.filter(({ name }) => !isAlone(name))),
    ]),
  ].join('\n'));
  process.stdout.write(`${standingsTable(withVariantsApart(fixed).contestants)}\n${standingsTable(withVariantsApart(unseen).contestants)}`);
}
