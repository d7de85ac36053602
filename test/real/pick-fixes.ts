import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { isTestPath } from '../../backend/context/file-names.ts';
import { languageOf } from '../../backend/verify/syntax/language.ts';
import { changedFiles, git, isProductSource } from '../bench/context/historic-fix.ts';
import { readPinnedFixes, type PinnedFix } from './pinned-fix.ts';

/*
 * Picks fixes from the histories of repositories by rules alone, the latest first, so that they still install:
 *
 *     node with-node.mjs node test/real/pick-fixes.ts REPOSITORIES owner/name …
 *
 * Candidates of other repositories stay. There are more candidates than fixes are wanted: whether the tests notice a fix is seen only when they run.
 */

const FIX = /\bfix(?:es|ed)?\b|\bbugs?\b|\bcorrect(?:s|ed)?\b|\bhandle[sd]?\b/i;
const NO_FIX = /\b(?:typos?|docs?|documentation|readme|lint(?:er|ing)?|ci|changelog|flaky|spelling|build|release|deps|dependenc\w+|benchmarks?|revert|merge|website|prettier|eslint|links?|chore|formatting|typing|types|coverage)\b/i;
const MAX_COMMITS = 3_000;
const MAX_SOURCE_FILES = 3;
const MAX_CHANGED_LINES = 80;
const CANDIDATES = 5;

const [repositories = '', ...names] = process.argv.slice(2);
const pinned = readPinnedFixes();
const picked: PinnedFix[] = [...pinned].flatMap(([repository, fixes]) => (names.includes(repository) ? [] : fixes));
for (const repository of names) {
  const folder = path.join(repositories, repository.replace('/', '+'), 'repo');
  const log = await git(folder, 'log', '--no-merges', '--no-renames', '--name-status', `--max-count=${MAX_COMMITS}`, '--format=%x01%H%x02%s%x02');
  const before = picked.length;
  for (const record of log.split('\x01').slice(1)) {
    const [commit = '', subject = '', files = ''] = record.split('\x02');
    if (!FIX.test(subject) || NO_FIX.test(subject)) continue;
    const changes = files.trim().split('\n').map((line) => line.split('\t'));
    const sources = changes.filter(([, file = '']) => isProductSource(file));
    if (sources.length === 0 || sources.length > MAX_SOURCE_FILES || sources.some(([status]) => status !== 'M')) continue;
    if (!changes.some(([, file = '']) => isTestPath(file) && languageOf(file) !== undefined)) continue;
    const lines = (await changedFiles(folder, commit)).reduce((sum, file) => sum + file.lines.length, 0);
    if (lines === 0 || lines > MAX_CHANGED_LINES) continue;
    picked.push({ repository, commit });
    if (picked.length - before === CANDIDATES) break;
  }
  console.log(repository, picked.length - before);
}
const lines = picked.map((fix) => ` ${JSON.stringify(fix)}`);
writeFileSync(path.join(import.meta.dirname, 'fixes.json'), `[\n${lines.join(',\n')}\n]\n`);
