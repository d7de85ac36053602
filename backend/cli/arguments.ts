import { homedir } from 'node:os';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import path from 'node:path';
import { failedBeforeSchema, runRequestSchema, type FileRange, type RunRequest } from '../protocol/run-request.ts';
import { testImageName } from '../protocol/test-command.ts';
import { UsageError } from './usage-error.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

/** Parses options and positional arguments. @throws UsageError for unknown options. */
export function readArguments<O extends Options>(args: readonly string[], options: O) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(unknownOption(error, Object.keys(options)) ?? (error instanceof Error ? error.message : String(error)));
  }
}

/** Names the option that was probably meant, where Node would explain how to pass such a word as an argument. */
function unknownOption(error: unknown, known: readonly string[]): string | undefined {
  if (!(error instanceof Error) || (error as NodeJS.ErrnoException).code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return undefined;
  const [, option = ''] = /^Unknown option '(--?[^']+)'/.exec(error.message) ?? [];
  if (option === '') return undefined;
  const word = option.replace(/^-+/, '');
  const meant = known.find((name) => word.length > 1 && (name.split('-').includes(word) || name.startsWith(word) || word.startsWith(name)));
  return `Unknown option ${option}${meant === undefined ? '; --help lists the options' : `; --${meant} is one`}.`;
}

export const SOLVE_OPTIONS = {
  workspace: { type: 'string', short: 'w' },
  file: { type: 'string', short: 'f', multiple: true },
  worker: { type: 'string', multiple: true },
  picture: { type: 'string', short: 'p', multiple: true },
  conductor: { type: 'string' },
  continue: { type: 'string' },
  rounds: { type: 'string' },
  attempts: { type: 'string' },
  'at-once': { type: 'boolean' },
  'local-first': { type: 'boolean' },
  'test-command': { type: 'string' },
  runner: { type: 'string' },
  reports: { type: 'string' },
  image: { type: 'string' },
  'no-tests': { type: 'boolean' },
  test: { type: 'string', multiple: true },
  'failed-before': { type: 'string' },
  'max-usd': { type: 'string' },
  review: { type: 'boolean' },
  'review-above': { type: 'string' },
  'require-verified': { type: 'boolean' },
  apply: { type: 'boolean' },
  json: { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
} as const satisfies Options;

/**
 * The arguments of `conductor solve` as a request to the backend. Relative paths are relative to `currentFolder`. It may continue from `last`,
 * which the command resolves.
 */
export function solveRequest(args: readonly string[], currentFolder: string) {
  const { values, positionals } = readArguments(args, SOLVE_OPTIONS);
  const [question, ...rest] = positionals;
  if (question === undefined) throw new UsageError('The question is missing: conductor solve "why does …"');
  if (rest.length > 0) throw new UsageError(`The question is one argument: put it in quotes (left over: ${rest.join(' ')}).`);
  if (values['no-tests'] && values['test-command'] !== undefined) throw new UsageError('--no-tests and --test-command exclude each other.');
  if (values['no-tests'] && (values.runner ?? values.reports ?? values.image) !== undefined) throw new UsageError('--no-tests excludes --runner, --reports and --image.');
  checkJudges(values);
  checkImage(values.image);
  if (values.runner?.trim() === '') throw new UsageError('--runner takes the name of a test runner, such as vitest.');
  if (values.reports?.trim() === '') throw new UsageError('--reports takes a pattern of files, such as "reports/*.xml".');
  if (values.continue?.trim() === '') throw new UsageError('--continue takes the id of a run, or "last".');
  if (values['test-command']?.trim() === '') throw new UsageError('--test-command takes a command. To run no tests, use --no-tests.');

  if (values.workspace === undefined) checkIsNoHome(currentFolder);
  const workspace = path.resolve(currentFolder, values.workspace ?? '.');
  const maxUsd = values['max-usd'] === undefined ? undefined : positive(values['max-usd'], '--max-usd');
  const reviewAbove = values['review-above'] === undefined ? undefined : positive(values['review-above'], '--review-above');
  if (values.review && reviewAbove !== undefined) throw new UsageError('--review and --review-above exclude each other.');
  const reviewPlan = values.review ? 'always' : reviewAbove === undefined ? undefined : { aboveUsd: reviewAbove };
  if (reviewPlan !== undefined && values.json) throw new UsageError('--json asks no questions, so it excludes --review and --review-above.');
  const attempts = values.attempts === undefined ? undefined : whole(values.attempts, '--attempts', { from: 1, to: 5 });
  if (values['at-once'] && (attempts ?? 1) === 1) throw new UsageError('--at-once tries several attempts at the same time: name their number with --attempts.');
  const parsed = runRequestSchema.safeParse({
    question,
    ...(values.continue !== undefined && { continues: values.continue.trim() }),
    workspace,
    focus: { files: (values.file ?? []).map((file) => fileRange(file, workspace, currentFolder)) },
    ...(attempts !== undefined && { attempts }),
    ...(values['at-once'] && { atOnce: true }),
    ...(values['local-first'] && { localFirst: true }),
    ...(values.rounds !== undefined && { rounds: whole(values.rounds, '--rounds', { from: 1, to: 5 }) }),
    ...(values['no-tests'] ? { testCommand: null } : { testCommand: values['test-command'] }),
    testRunner: values.runner,
    testReports: values.reports,
    testImage: values.image,
    tests: values.test,
    failedBefore: values['failed-before'],
    ...(maxUsd !== undefined && { budget: { runUsd: maxUsd } }),
    workers: values.worker,
    conductor: values.conductor,
    reviewPlan,
  });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UsageError(`${issue?.path.join('.') ?? 'request'}: ${issue?.message ?? 'not valid'}`);
  }
  const request: RunRequest = parsed.data;
  return { request, json: values.json ?? false, yes: values.yes ?? false, requireVerified: values['require-verified'] ?? false, apply: values.apply ?? false, pictures: (values.picture ?? []).map((file) => path.resolve(currentFolder, file)) };
}

/** What lies in a home folder is not a project, takes minutes to search, and is nobody else's. @throws UsageError */
function checkIsNoHome(folder: string): void {
  const inside = path.relative(folder, homedir());
  if (inside.startsWith('..') || path.isAbsolute(inside)) return;
  throw new UsageError(`${folder} ${inside === '' ? 'is your home folder' : 'holds your home folder'} and no project, and parts of its files would be sent to models: go to the project, or name its folder with --workspace.`);
}

/** @throws UsageError */
function checkJudges(values: { readonly 'no-tests'?: boolean | undefined; readonly test?: readonly string[] | undefined; readonly 'failed-before'?: string | undefined }): void {
  const { test, 'failed-before': failedBefore } = values;
  if (values['no-tests'] && (test ?? failedBefore) !== undefined) throw new UsageError('--no-tests excludes --test and --failed-before.');
  checkTestIds(test);
  checkFailedBefore(failedBefore);
}

/** @throws UsageError */
export function checkFailedBefore(failedBefore: string | undefined): void {
  if (failedBefore !== undefined && !failedBeforeSchema.safeParse(failedBefore).success)
    throw new UsageError('--failed-before takes leave-out or must-pass: what becomes of tests that failed before.');
}

/** @throws UsageError */
export function checkTestIds(ids: readonly string[] | undefined): void {
  if (ids?.some((id) => id.trim() === '')) throw new UsageError('--test takes the id of a test, as the verdict prints it.');
}

/** @throws UsageError */
export function checkImage(image: string | undefined): void {
  if (image !== undefined && !testImageName.safeParse(image).success) throw new UsageError('--image takes the name of a container image, such as node:24.');
}

/** @throws UsageError */
export function positive(text: string, option: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new UsageError(`${option} takes a number above 0, not "${text}".`);
  return value;
}

/** @throws UsageError */
export function whole(text: string, option: string, { from, to }: { readonly from: number; readonly to: number }): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= from && value <= to) return value;
  throw new UsageError(`${option} takes a whole number from ${from} to ${to}, not "${text}".`);
}

/**
 * Rejects options that the action would ignore. `accepted` lists the actions that accept each option.
 * @throws UsageError
 */
export function checkOptions(
  command: string, action: string, values: Readonly<Record<string, unknown>>, accepted: Readonly<Record<string, readonly string[]>>,
): void {
  for (const [option, actions] of Object.entries(accepted)) {
    if (values[option] === undefined || actions.includes(action)) continue;
    const others = actions.map((other) => `"${command} ${other}"`).join(', ');
    throw new UsageError(`"${command} ${action}" takes no --${option}; ${others} ${actions.length > 1 ? 'do' : 'does'}.`);
  }
}

/**
 * Parses `src/a.ts`, `src/a.ts:10` or `src/a.ts:10-20`, relative to the current folder, or to the workspace where that would lead out of it: with
 * `--workspace`, people name its files. The result's path is relative to the workspace.
 */
function fileRange(text: string, workspace: string, currentFolder: string): FileRange {
  const [, name = text, start, end] = /^(.+?)(?::(\d+)(?:-(\d+))?)?$/s.exec(text) ?? [];
  const inWorkspace = (from: string): string => path.relative(workspace, path.resolve(from, name)).split(path.sep).join('/');
  const fromHere = inWorkspace(currentFolder);
  const relative = fromHere === '..' || fromHere.startsWith('../') ? inWorkspace(workspace) : fromHere;
  if (text.trim() === '' || relative === '') throw new UsageError(`--file takes the path of a file, not "${text}".`);
  if (start !== undefined && (Number(start) < 1 || Number(end ?? start) < Number(start))) {
    throw new UsageError(`--file takes lines from 1 up, the first before the last, such as src/a.js:10-20; not "${text}".`);
  }
  return {
    path: relative,
    ...(start !== undefined && { startLine: Number(start), endLine: Number(end ?? start) }),
  };
}
