import { createReadStream, existsSync } from 'node:fs';
import path from 'node:path';
import { addAbortSignal } from 'node:stream';
import { TEST_RUNNERS } from '../protocol/test-runners.ts';
import { prefixOf } from '../verify/git/git-head.ts';
import { MAX_DIFF_BYTES } from '../verify/patch/diff-file.ts';
import { findTestCommands } from '../verify/runners/find-tests.ts';
import { likelyCommands, whatWasLookedFor } from '../verify/runners/likely-commands.ts';
import { checkFailedBefore, checkImage, checkTestIds, readArguments, whole } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { folderAt } from './folder-at.ts';
import { judgeChange, nothingRun, type VerifyResult } from './judge-change.ts';
import { likelyText } from './likely-text.ts';
import { ProgressPrinter } from './progress-printer.ts';
import { junitReport } from './reports/junit-report.ts';
import { sarifReport } from './reports/sarif-report.ts';
import { readAtMost } from '../common/read-at-most.ts';
import { allPrintable, jsonText, printable } from './terminal.ts';
import { UsageError } from './usage-error.ts';
import { verdictLines } from './verdict-lines.ts';
import { verifyHint } from './verify-hint.ts';

const OPTIONS = {
  workspace: { type: 'string', short: 'w' },
  patch: { type: 'string' },
  base: { type: 'string' },
  tests: { type: 'string' },
  command: { type: 'string' },
  runner: { type: 'string' },
  reports: { type: 'string' },
  image: { type: 'string' },
  test: { type: 'string', multiple: true },
  'failed-before': { type: 'string' },
  timeout: { type: 'string' },
  'no-sandbox': { type: 'boolean' },
  'require-verified': { type: 'boolean' },
  list: { type: 'boolean' },
  json: { type: 'boolean' },
  out: { type: 'string', short: 'o' },
  junit: { type: 'string' },
  sarif: { type: 'string' },
} as const;

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>['values'];

const EXIT_OF = { verified: EXIT.ok, passes: EXIT.ok, failed: EXIT.failed, refused: EXIT.failed, infrastructure: EXIT.infrastructure } as const;

/** `conductor verify`: runs the project's tests on a diff, or on the uncommitted changes, on top of the last commit or of `--base`. */
export const verifyCommand: Command = async (args, context) => {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (positionals.length > 0)
    throw new UsageError(`"verify" takes options only: --patch FILE.diff (left over: ${positionals.join(' ')}).`);
  checkValues(values);
  const { terminal, currentFolder } = context;
  const workspace = await folderAt(path.resolve(currentFolder, values.workspace ?? '.'));
  if (values.list) return await list(workspace, values, context);

  const progress = new ProgressPrinter(terminal);
  const write = async (result: VerifyResult): Promise<void> => {
    for (const [name, text] of await reportsOf(result, { workspace, signal: context.interrupted, values })) await context.writeWhole(path.resolve(currentFolder, name), text);
  };
  const sandboxed = values['no-sandbox'] !== true;
  const judged = async (): Promise<VerifyResult> => judgeChange({
    ...values, workspace, targets: values.test, ...(values['failed-before'] === 'leave-out' && { leaveOut: 'failed before' }), tests: values.tests === 'head' ? 'head' : 'base', sandboxed, openVerification: context.openVerification, signal: context.interrupted,
    diff: values.patch === undefined ? undefined : await readDiff(values.patch, context),
    timeoutMs: values.timeout === undefined ? undefined : 1_000 * whole(values.timeout, '--timeout', { from: 1, to: 86_400 }),
    onProgress: (stage) => progress.tell({ label: stage.charAt(0).toUpperCase() + stage.slice(1) }),
  });
  const result = await judged().finally(() => progress.end()).catch(async (error: unknown) => {
    // Whoever reads the file wants to know why there is no verdict, too.
    if (error instanceof UsageError) await write({ ...nothingRun('infrastructure', error.message, { sandboxed }), command: values.command ?? null, commit: null });
    throw error;
  });
  await write(result);
  if (values.json) terminal.result(jsonText(result, 2));
  else for (const line of verdictLines(allPrintable(result), terminal.resultStyle)) terminal.result(line);
  const hint = values.json ? undefined : verifyHint(result, { ...values, failedBefore: values['failed-before'] });
  if (hint !== undefined) terminal.say(printable(hint));
  return values['require-verified'] && result.outcome === 'passes' ? EXIT.failed : EXIT_OF[result.outcome];
};

/** The files to write, and what is in each. */
async function reportsOf(
  result: VerifyResult, { workspace, signal, values }: { readonly workspace: string; readonly signal: AbortSignal; readonly values: Values },
): Promise<[name: string, text: string][]> {
  const texts: [string, string][] = [];
  if (values.out !== undefined) texts.push([values.out, `${jsonText(result, 2)}\n`]);
  if (values.junit !== undefined) texts.push([values.junit, junitReport(result, { requireVerified: values['require-verified'] === true })]);
  if (values.sarif !== undefined) {
    // Without a repository there is no verdict either, and the report says so.
    const prefix = await prefixOf(workspace, signal).catch(() => '');
    const isThere = (name: string): boolean => !path.isAbsolute(name) && existsSync(path.join(workspace, name));
    texts.push([values.sarif, `${jsonText(sarifReport(result, { prefix, isThere }), 2)}\n`]);
  }
  return texts;
}

/** @throws UsageError */
function checkValues(values: Values): void {
  const { command, runner, reports, patch, test } = values;
  if (command?.trim() === '') throw new UsageError('--command takes a command, such as "npm test".');
  for (const name of ['out', 'junit', 'sarif'] as const)
    if (values[name] === '') throw new UsageError(`--${name} takes a file.`);
  if (values.base?.trim() === '') throw new UsageError('--base takes a commit, such as origin/main.');
  if (values.tests !== undefined && values.tests !== 'base' && values.tests !== 'head')
    throw new UsageError('--tests takes base or head: whose tests judge.');
  if (patch === '') throw new UsageError('--patch takes a file, or - for standard input.');
  if (reports !== undefined && command === undefined)
    throw new UsageError('--reports goes with --command: it names the JUnit files that the command writes.');
  checkTestIds(test);
  checkFailedBefore(values['failed-before']);
  checkImage(values.image);
  if (values.image !== undefined && values['no-sandbox']) throw new UsageError('--image and --no-sandbox exclude each other.');
  if (runner !== undefined && !TEST_RUNNERS.some((name) => name === runner))
    throw new UsageError(`There is no runner "${runner}"; there are ${TEST_RUNNERS.join(', ')}.`);
}

async function list(workspace: string, { json }: Values, { terminal }: CommandContext): Promise<number> {
  const found = await findTestCommands(workspace);
  const likely = found.length === 0 ? await likelyCommands(workspace) : [];
  if (json) terminal.result(jsonText([...found, ...likely.map((one) => ({ ...one, runner: null, folder: '' }))], 2));
  else if (found.length === 0) terminal.say(printable(`No test command was found in ${workspace}. ${whatWasLookedFor()}${likelyText(likely)}`));
  else
    for (const { command, runner } of allPrintable(found)) terminal.result(`${command}  ${terminal.resultStyle('dim', runner)}`);
  return EXIT.ok;
}

/** Reads a diff from a file; "-" is standard input. @throws UsageError, or the signal's reason */
async function readDiff(name: string, { currentFolder, standardInput, interrupted }: CommandContext): Promise<string> {
  const place = name === '-' ? 'Standard input' : path.resolve(currentFolder, name);
  let read;
  try {
    read = await readAtMost(addAbortSignal(interrupted, name === '-' ? standardInput() : createReadStream(place)), MAX_DIFF_BYTES);
  } catch (error) {
    interrupted.throwIfAborted();
    throw new UsageError(`${place} could not be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`, {
      cause: error,
    });
  }
  if (!read.isWhole)
    throw new UsageError(`${place} has more than ${MAX_DIFF_BYTES / 2 ** 20} MB, which is too large for a diff.`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(read.bytes);
  } catch (cause) {
    throw new UsageError(`${place} is not text in UTF-8. Only diffs in UTF-8 can be judged.`, { cause });
  }
}
