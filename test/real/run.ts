import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, homedir, tmpdir, type } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Judge } from './judge.ts';
import { addPersonPrograms } from './person-programs.ts';
import { readPinnedFixes } from './pinned-fix.ts';
import { isJudged, type Results } from './result.ts';
import { page } from './table.ts';
import { tryRepository } from './try-repository.ts';

/* Judges the fixes of fixes.json; README.md says how. */

const { values } = parseArgs({
  options: {
    repositories: { type: 'string' },
    work: { type: 'string', default: path.join(tmpdir(), 'conductor-real') },
    only: { type: 'string', multiple: true },
    minutes: { type: 'string', default: '15' },
    fixes: { type: 'string', default: '2' },
    wrong: { type: 'string', default: '5' },
    results: { type: 'string', default: path.join(import.meta.dirname, 'results.json') },
    again: { type: 'boolean', default: false },
    table: { type: 'string' },
    note: { type: 'string' },
  },
});

const pinned = readPinnedFixes();
const work = path.resolve(values.work);
await mkdir(work, { recursive: true });
let results: Results = await readFile(values.results, 'utf8').then(
  (text) => JSON.parse(text) as Results,
  () => ({ machine: `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, ${type()}, Node ${process.versions.node}`, repositories: {} }),
);
/** Also of the page, which is drawn from all results. No path of this machine stays in either. */
const save = async (): Promise<void> => {
  const text = JSON.stringify(results, null, 1).replaceAll(work, 'WORK').replaceAll(homedir(), '~');
  await writeFile(values.results, `${text}\n`);
  if (values.table === undefined) return;
  const command = `node with-node.mjs node test/real/run.ts --minutes ${values.minutes} --wrong ${values.wrong}`;
  await writeFile(values.table, page(JSON.parse(text) as Results, { command, note: values.note, pinned: pinned.size }));
};

addPersonPrograms(path.join(work, 'programs'));
for (const [repository, candidates] of pinned) {
  const isNamed = values.only?.some((name) => repository === name || repository.endsWith(`/${name}`));
  const before = values.again ? undefined : results.repositories[repository];
  if (isNamed === false || (isNamed === undefined && before !== undefined)) continue;
  console.log(`${new Date().toISOString().slice(11, 19)} ${repository}`);
  await using judge = await Judge.open(path.join(work, 'home'));
  const limitMs = Number(values.minutes) * 60_000;
  const repositories = values.repositories === undefined ? undefined : path.resolve(values.repositories);
  const result = await tryRepository(repository, candidates, {
    work, repositories, judge, limitMs, before, fixes: Number(values.fixes), wrongPatches: Number(values.wrong), tell: console.log,
  });
  for (const { commit, notTried } of result.fixes) if (notTried !== undefined) console.log(`  ${commit.slice(0, 8)} not tried: ${notTried}`);
  console.log(`  judged: ${result.fixes.filter(isJudged).length}${result.stopped === undefined ? '' : `, ${result.stopped}`}`);
  results = { ...results, repositories: { ...results.repositories, [repository]: result } };
  await save();
}
await save();
