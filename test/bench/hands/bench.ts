import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rgPath } from '@vscode/ripgrep';
import type { Command } from '../../../backend/hands/command.ts';
import { fencedCommands } from '../../../backend/hands/fenced-commands.ts';
import { StepCopies } from '../../../backend/hands/step-copies.ts';
import { changesOf } from '../../../backend/hands/step-copy.ts';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { CopyPool } from '../../../backend/verify/copies/copy-pool.ts';
import { RunFolders } from '../../../backend/verify/files/run-folder.ts';
import { MemoryBaseRunCache } from '../../../backend/verify/judge/base-run-cache.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../../backend/verify/verify.ts';

/*
 * What a turn of a step with hands costs beyond its worker, in milliseconds: reading the command, doing it, and the change for the journal.
 * Of `run`, the command itself (what the sandbox says it took) is subtracted; with it goes the start of the sandbox. Median and 90 % of
 * all rounds, and how long our own thread was at work, which tells more on a busy machine.
 *
 * node with-node.mjs node test/bench/hands/bench.ts [--files 2000] [--rounds 20]
 */

const { values } = parseArgs({ options: { files: { type: 'string', default: '2000' }, rounds: { type: 'string', default: '20' } } });
const rounds = Number(values.rounds);
const home = await realpath(await mkdtemp(path.join(tmpdir(), 'bench-hands-')));
const workspace = path.join(home, 'project');
for (let index = 0; index < Number(values.files); index += 1) {
  const folder = path.join(workspace, `src/part-${index % 50}`);
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, `file-${index}.js`), `export const value${index} = ${index};\n`.repeat(40));
}
const folders = new RunFolders(path.join(home, 'runs'), isProcessAlive);
const real = new Sandbox({ searchPath: process.env['PATH'] ?? '', homeFolder: process.env['HOME'] ?? '/', folders });
let sandboxMs = 0;
const sandbox: Pick<Sandbox, 'run'> = {
  run: async (command) => {
    const started = performance.now();
    try {
      return await real.run(command);
    } finally {
      sandboxMs += performance.now() - started;
    }
  },
};
const pool = new CopyPool({ folders });
const copies = new StepCopies({ copies: pool, sandbox, folders, ripgrepPath: rgPath, verifier: new Verifier({ sandbox: { run: (command) => sandbox.run(command), pinnedImage: (image) => real.pinnedImage(image) }, folders, copies: pool, baseRuns: new MemoryBaseRunCache() }) });
const signal = new AbortController().signal;

const REPLIES: Readonly<Record<string, (round: number) => string>> = {
  read: (round) => `\`\`\`read src/part-1/file-${1 + 50 * (round % Math.max(1, Math.min(10, Math.floor(Number(values.files) / 50))))}.js\n\`\`\``,
  search: (round) => `\`\`\`search\nvalue${round} =\n\`\`\``,
  edit: (round) => `\`\`\`edit src/part-2/file-2.js\n<<<<<<< SEARCH\nmarker ${round}\n=======\nmarker ${round + 1}\n>>>>>>> REPLACE\n\`\`\``,
  run: () => '```run\ntrue\n```',
};

const middle = (numbers: readonly number[], share: number): number => numbers.toSorted((a, b) => a - b)[Math.floor(share * (numbers.length - 1))] ?? 0;
const openings: number[] = [];
for (let round = 0; round < 5; round += 1) {
  const started = performance.now();
  const copy = await copies.open({ of: { base: workspace }, test: undefined, newTests: false }, signal);
  openings.push(performance.now() - started);
  await copy.release();
}
console.log(`${values.files} files, ${rounds} rounds, load ${loadavg()[0]?.toFixed(1)}`);
console.log(`a copy: first ${openings[0]?.toFixed(1)} ms, then ${middle(openings.slice(1), 0.5).toFixed(1)} ms`);
const copy = await copies.open({ of: { base: workspace }, test: undefined, newTests: false }, signal);
await copy.set('src/part-2/file-2.js', 'marker 0\n');
for (const [name, reply] of Object.entries(REPLIES)) {
  const took: number[] = [];
  const thread: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    sandboxMs = 0;
    const [started, cpu] = [performance.now(), process.cpuUsage()];
    const [command] = fencedCommands(reply(round)) as [Command];
    const { text } = await copy.do(command, signal);
    changesOf(copy.edits);
    took.push(performance.now() - started - sandboxMs);
    const { user, system } = process.cpuUsage(cpu);
    thread.push((user + system) / 1_000);
    if (text.startsWith('Not done')) throw new Error(text);
  }
  console.log(`${name.padEnd(8)} median ${middle(took, 0.5).toFixed(1)} ms, 90 % ${middle(took, 0.9).toFixed(1)} ms; processor ${middle(thread, 0.5).toFixed(1)} ms`);
}
await copy.release();
await pool.close();
await rm(home, { recursive: true, force: true });
