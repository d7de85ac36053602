/*
 * How many tests of a project the negative control can alter, and whether each of them is red then with the project's own code.
 *
 *   node with-node.mjs node test/bench/verify/altered-tests.ts FOLDER… [--rounds 1] [--command 'npx mocha']
 *
 * FOLDER holds a project whose tests are green and whose dependencies are installed. All tests that pass are altered at once, as if a patch had
 * mended them. A test that is altered and stays green would cost an honest fix its verdict: each is named.
 */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { userPath } from '../../../backend/common/user-path.ts';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { BaseTests, runnerOf } from '../../../backend/verify/base-tests.ts';
import { alterExpectations } from '../../../backend/verify/control/alter-expectations.ts';
import { writeTests } from '../../../backend/verify/control/write-tests.ts';
import { CopyPool } from '../../../backend/verify/copies/copy-pool.ts';
import { RunFolders } from '../../../backend/verify/files/run-folder.ts';
import { MemoryBaseRunCache } from '../../../backend/verify/judge/base-run-cache.ts';
import { findTestCommands } from '../../../backend/verify/runners/find-tests.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';
import { ToolVersions } from '../../../backend/verify/tools/tool-versions.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { rounds: { type: 'string', default: '1' }, command: { type: 'string' } } });

for (const folder of positionals) await measure(await realpath(folder));

async function measure(base: string): Promise<void> {
  const work = await realpath(await mkdtemp(path.join(tmpdir(), 'altered-tests-')));
  const folders = new RunFolders(path.join(work, 'runs'), isProcessAlive);
  const copies = new CopyPool({ folders });
  try {
    const sandbox = new Sandbox({ searchPath: userPath(process.env), homeFolder: homedir(), folders });
    const tools = new ToolVersions({ sandbox, folders });
    const command = values.command ?? (await findTestCommands(base))[0]?.command;
    if (command === undefined) throw new Error(`${base}: no test command was found.`);
    const options = { base, command, signal: new AbortController().signal };
    const chosen = await runnerOf(options);
    if (!chosen) throw new Error(`${base}: no runner was found for "${command}".`);
    const tests = await BaseTests.open({ sandbox, folders, copies, baseRuns: new MemoryBaseRunCache(), tools }, options, chosen);
    const { report } = await tests.runs.run((copy) => tests.makeBase(copy));
    const ids = report.results.filter(({ kind, status }) => kind === 'test' && status === 'passed').map(({ id }) => id);
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const { report: red, changed } = await tests.runs.run(async (copy) => {
        await tests.makeBase(copy);
        const made = await alterExpectations({ folder: copy, paths: tests.snapshot.paths, runner: tests.chosen.runner, ids });
        await writeTests({ folder: copy, paths: tests.snapshot.paths, runner: tests.chosen.runner, ids }, made.texts, []);
        return made;
      });
      const ended = new Map(red.results.map(({ id, status }) => [id, status]));
      const green = [...changed.certain].filter((id) => ended.get(id) === 'passed');
      const missing = [...changed.certain].filter((id) => !ended.has(id)).length;
      console.log(`${path.basename(base)}: ${changed.certain.size} of ${ids.length} tests altered, ${green.length} stay green, ${missing} are not reported`);
      for (const id of green) console.log(`  ${id}`);
    }
  } finally {
    await copies.close();
    await rm(work, { recursive: true, force: true });
  }
}
