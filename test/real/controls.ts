import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { alterExpectations } from '../../backend/verify/control/alter-expectations.ts';
import { readHead, writeHead } from '../../backend/verify/git/git-head.ts';
import { chooseRunner } from '../../backend/verify/runners/choose-runner.ts';
import { findTestCommand } from '../../backend/verify/runners/find-tests.ts';
import type { TriedTests } from '../../backend/verify/try-tests.ts';
import { openVerificationParts } from '../../backend/wiring/verification.ts';

/*
 * The negative control on all tests of a real project at once; README.md says how. No code is changed, so each test whose expectation is altered must
 * fail: one that passes would have an honest change called untrusted. Tests that are compiled must still compile.
 */

const { values, positionals: [given = '.'] } = parseArgs({ allowPositionals: true, options: { command: { type: 'string' }, draws: { type: 'string', default: '1' }, timeout: { type: 'string', default: '600' } } });
const base = path.resolve(given);
const found = values.command === undefined ? await findTestCommand(base) : { command: values.command };
const chosen = found && (await chooseRunner(found, base));
if (!found || !chosen) throw new Error('No test command was found: name one by --command.');
const parts = await openVerificationParts(path.join(tmpdir(), 'conductor-controls'));
await using _closing = { [Symbol.asyncDispose]: () => parts.close() };
const paths = new Set(execFileSync('git', ['ls-files', '-z'], { cwd: base, encoding: 'utf8' }).split('\0').filter((file) => file !== ''));
const signal = AbortSignal.timeout(3_600_000);
/** The tests as they are in the last commit, but for these texts. */
const run = async (texts: ReadonlyMap<string, string>): Promise<TriedTests> => {
  const folder = await parts.folders.create();
  try {
    const head = await writeHead(await readHead(base, signal), folder.workspace, signal);
    for (const [file, text] of texts) await writeFile(path.join(head.folder, file), text);
    return await parts.verifier.tryTests({ base: head.folder, installed: base, command: found.command, patch: { edits: [] }, signal, timeoutMs: Number(values.timeout) * 1_000 });
  } finally {
    await folder.remove();
  }
};

const plain = await run(new Map());
const ids = plain.results.filter(({ kind, status }) => kind === 'test' && status === 'passed').map(({ id }) => id);
console.log(`${found.command} (${chosen.runner.name}): ${ids.length} tests pass${plain.problem === undefined ? '' : `, ${plain.problem}`}`);
for (let draw = 1; draw <= Number(values.draws) && ids.length > 0; draw += 1) {
  const { certain, texts } = await alterExpectations({ folder: base, paths, runner: chosen.runner, ids });
  const { results, problem, said } = await run(texts);
  const byId = new Map(results.map(({ id, status }) => [id, status]));
  const passing = [...certain].filter((id) => byId.get(id) === 'passed');
  const missing = [...certain].filter((id) => !byId.has(id));
  const told = results.filter(({ kind, status }) => kind === 'container' && status === 'failed').map(({ id, message = '' }) => `${id}: ${message}`);
  console.log(`  ${certain.size} altered in ${texts.size} files: ${certain.size - passing.length - missing.length} fail, ${passing.length} pass, ${missing.length} are missing`);
  for (const id of passing) console.log(`  PASSES ${id}`);
  for (const id of missing.slice(0, 10)) console.log(`  missing ${id}`);
  for (const line of told.slice(0, 10)) console.log(`  ${line.slice(0, 600)}`);
  if (problem !== undefined || missing.length === certain.size) console.log(`  ${problem ?? said.slice(0, 2_000)}`);
}
