/*
 * Makes outcomes.json: tasks of real projects, with what the real judge says of each answer. outcomes.json says at which commits.
 *
 *   node with-node.mjs node test/bench/learn/mine.ts CLONES --keep FOLDER [--each 10]
 *
 * CLONES holds clones of hukkin/tomli, fastify/fast-uri (with its packages installed) and google/uuid. FOLDER keeps what was found so far.
 */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { git } from '../context/historic-fix.ts';
import { minedTasks, PROJECTS } from '../hands/mined-tasks.ts';
import { type LearnTask, OUTCOMES, type Outcomes, withoutCode } from './learn-tasks.ts';

const { values, positionals: [clones] } = parseArgs({ allowPositionals: true, options: { keep: { type: 'string' }, each: { type: 'string', default: '10' } } });
if (clones === undefined || values.keep === undefined) throw new Error('Name the folder with the clones, and a folder to keep what was judged: CLONES --keep FOLDER.');

const ABOUT: Readonly<Record<string, { readonly repository: string; readonly language: string }>> = {
  'tomli': { repository: 'hukkin/tomli', language: 'Python' },
  'fast-uri': { repository: 'fastify/fast-uri', language: 'JavaScript' },
  'uuid': { repository: 'google/uuid', language: 'Go' },
};

await mkdir(values.keep, { recursive: true });
const home = await realpath(await mkdtemp(path.join(tmpdir(), 'learn-mine-')));
const projects: Outcomes['projects'][number][] = [];
const tasks: LearnTask[] = [];
try {
  for (const { name, command } of PROJECTS) {
    const { repository, language } = ABOUT[name] ?? { repository: name, language: name };
    const mined = await minedTasks(clones, { file: path.resolve(values.keep, `mined-${name}.json`), home, each: Number(values.each), seed: 1, only: name });
    projects.push({ name, repository, language, command, commit: (await git(path.resolve(clones, name), 'rev-parse', 'HEAD')).trim() });
    tasks.push(...mined.map((task) => withoutCode(task, language)));
  }
} finally {
  await rm(home, { recursive: true, force: true });
}
const lines = tasks.map((task) => `    ${JSON.stringify(task)}`).join(',\n');
await writeFile(OUTCOMES, `{\n  "projects": ${JSON.stringify(projects)},\n  "tasks": [\n${lines}\n  ]\n}\n`);
console.log(`${tasks.length} tasks of ${projects.length} projects.`);
