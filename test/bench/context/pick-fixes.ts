import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { changedFiles, git, isProductSource, type HistoricFix } from './historic-fix.ts';

/*
 * Picks fixes from the histories of repositories, evenly over time, by rules alone:
 *
 *     node with-node.mjs node test/bench/context/pick-fixes.ts REPOSITORIES OUTPUT owner/name=14 …
 */

const FIX = /^(?:fix(?:es|ed)?\b|bug)|\bfix(?:es|ed)?\b|\bbug\b/i;
const NO_FIX = /\b(?:typos?|docs?|documentation|readme|lint(?:er|ing)?|ci|changelog|flaky|tests?|types? only|spelling|build|release|version|deps|dependenc\w+|benchmarks?|revert|merge|website|prettier|eslint|links?|minor|small|chore|yarn|rst|workaround|feedback|formatting|comment(?:s|ing)?|syntax|typing|coverage|jupyter)\b/i;
const MAX_SOURCE_FILES = 3;
const MAX_CHANGED_LINES = 80;
const MAX_QUESTION = 1_500;

const [repositories = '', output = '', ...wanted] = process.argv.slice(2);
const picked: HistoricFix[] = [];
for (const entry of wanted) {
  const [repository = '', count = '10'] = entry.split('=');
  const folder = path.join(repositories, repository.replace('/', '+'), 'repo');
  const log = await git(folder, 'log', '--no-merges', '--no-renames', '--name-status', '--format=%x01%H%x02%s%x02%B%x02');
  const fixes = log.split('\x01').slice(1).flatMap((record) => {
    const [commit = '', subject = '', message = '', files = ''] = record.split('\x02');
    if (!FIX.test(subject) || NO_FIX.test(subject) || subject.replace(/#\d+|\W+/g, ' ').trim().split(/\s+/).length < 4) return [];
    const changes = files.trim().split('\n').map((line) => line.split('\t'));
    const source = changes.filter(([, file = '']) => isProductSource(file));
    if (source.length === 0 || source.length > MAX_SOURCE_FILES || source.some(([status]) => status !== 'M')) return [];
    return [{ repository, commit, question: questionOf(message) }];
  });
  // From each of `count` equal parts of the history the first that is small enough.
  const size = fixes.length / Number(count);
  for (let part = 0; part < Number(count); part += 1) {
    for (const fix of fixes.slice(Math.floor(part * size), Math.floor((part + 1) * size))) {
      const lines = (await changedFiles(folder, fix.commit)).reduce((sum, file) => sum + file.lines.length, 0);
      if (lines === 0 || lines > MAX_CHANGED_LINES || !(await isWhole(folder, `${fix.commit}^`))) continue;
      picked.push(fix);
      break;
    }
  }
  console.log(repository, fixes.length);
}
writeFileSync(output, `${JSON.stringify(picked, null, 1)}\n`);

/** Whether all files of a commit are in the clone: a clone may lack some large ones. */
async function isWhole(folder: string, commit: string): Promise<boolean> {
  const objects = await git(folder, 'ls-tree', '-r', '--format=%(objectname)', commit);
  const { stdout } = spawnSync('git', ['-C', folder, 'cat-file', '--batch-check=%(objecttype)'], { input: objects, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return !stdout.includes('missing');
}

function questionOf(message: string): string {
  return message.replace(/^(?:Co-authored-by|Signed-off-by|Reviewed-by|Change-Id)\b.*$/gim, '').trim().slice(0, MAX_QUESTION);
}
