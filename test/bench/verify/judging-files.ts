// How often would honest fixes be refused because of the files that judge (backend/verify/closure)? Looks at historic commits that change tests
// and sources, and names each source that counts as a judge.
//   node with-node.mjs node test/bench/verify/judging-files.ts 40 ../mux ../click …      (commits a repository, repositories)
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { JudgingFiles } from '../../../backend/verify/closure/judging-files.ts';
import { protectedReason } from '../../../backend/verify/files/protected-paths.ts';
import { RUNNERS } from '../../../backend/verify/runners/runners.ts';

const [wanted = '40', ...repositories] = process.argv.slice(2);
const SOURCE = /\.(?:[cm]?[jt]sx?|py|go|rs|java)$/;
const totals = { commits: 0, refused: 0, files: 0, ms: 0 };

for (const repository of repositories) {
  const git = (...args: string[]): string => execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8', maxBuffer: 1 << 30 });
  const texts = new Map<string, string>();
  let commits = 0;
  let refused = 0;
  for (const commit of git('log', '--no-merges', '--format=%H', '-n', '4000', 'HEAD').trim().split('\n')) {
    if (commits >= Number(wanted)) break;
    const changes = git('diff-tree', '-r', '--no-commit-id', '--no-renames', '--name-status', commit).trim().split('\n').map((line) => line.split('\t'));
    const changed = changes.map(([, file = '']) => file).filter((file) => file !== '');
    const judged = changed.filter((file) => protectedReason(file) === undefined);
    if (changed.length > 15 || !changed.some((file) => protectedReason(file)?.startsWith('Tests are'))) continue;
    if (!judged.some((file) => SOURCE.test(file))) continue;
    let tree: string[][];
    try {
      tree = git('ls-tree', '-r', `${commit}^`).trim().split('\n').map((line) => line.split(/[\t ]/));
    } catch {
      continue;
    }
    const blobs = new Map(tree.filter(([, type]) => type === 'blob').map(([, , sha = '', ...name]) => [name.join(' '), sha]));
    await load(repository, [...blobs].filter(([file]) => SOURCE.test(file) || /\.(?:json|toml|cfg|ini|mod|ya?ml|rc)$|rc$/.test(file)).map(([, sha]) => sha), texts);
    const files = { paths: new Set(blobs.keys()), text: (file: string) => texts.get(blobs.get(file) ?? '') };
    const { command, configuration } = runOf(files);
    const started = performance.now();
    const judging = new JudgingFiles(files, { command, configuration }, '/nonexistent');
    const found: string[] = [];
    for (const file of judged) {
      if (protectedReason(file, configuration) !== undefined) continue;
      const why = await judging.whyItJudges({ path: file, before: blobs.has(file) ? '' : null });
      totals.files += 1;
      if (why !== undefined) found.push(`    ${file}: ${why}`);
    }
    totals.ms += performance.now() - started;
    commits += 1;
    if (found.length === 0) continue;
    refused += 1;
    console.log(`  ${path.basename(path.dirname(repository))} ${commit.slice(0, 10)} ${git('log', '-1', '--format=%s', commit).trim()}\n${found.join('\n')}`);
  }
  totals.commits += commits;
  totals.refused += refused;
  console.log(`${repository}: ${refused} of ${commits} commits`);
}
console.log(`${totals.refused} of ${totals.commits} commits have a source that counts as a judge; ${totals.files} files, ${Math.round(totals.ms / Math.max(1, totals.commits))} ms a commit`);

function runOf(files: { paths: ReadonlySet<string>; text: (file: string) => string | undefined }): { command: string; configuration: readonly RegExp[] } {
  const scripts = (JSON.parse(files.text('package.json') ?? '{}') as { scripts?: Record<string, string> }).scripts ?? {};
  const fallback = files.paths.has('go.mod') ? 'go test ./...' : files.paths.has('Cargo.toml') ? 'cargo test' : 'python3 -m pytest';
  const written = scripts['test:unit'] ?? scripts['unit'] ?? scripts['test'] ?? fallback;
  const command = written.replaceAll(/(?:npm|yarn|pnpm) (?:run )?([\w:-]+)/g, (all, name: string) => scripts[name] ?? all);
  const runner = RUNNERS.find(({ understands }) => understands(command));
  return { command, configuration: runner?.configuration ?? [] };
}

/** Reads blobs that are not known yet. */
async function load(repository: string, shas: readonly string[], texts: Map<string, string>): Promise<void> {
  const missing = [...new Set(shas)].filter((sha) => !texts.has(sha));
  if (missing.length === 0) return;
  const batch = spawn('git', ['-C', repository, 'cat-file', '--batch'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  batch.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  batch.stdin.end(missing.join('\n') + '\n');
  await once(batch, 'close');
  const bytes = Buffer.concat(chunks);
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at);
    const [sha = '', , size = '0'] = bytes.subarray(at, end).toString().split(' ');
    texts.set(sha, bytes.subarray(end + 1, end + 1 + Number(size)).toString('utf8'));
    at = end + 2 + Number(size);
  }
}
