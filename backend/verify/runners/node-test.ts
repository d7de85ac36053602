import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import { NoReportError, ReportError, type TestReport } from './test-report.ts';
import { guardOfTests, nodeOption, withNodeOptions } from './javascript-guard.ts';
import { binFolders, withOptions } from './javascript-project.ts';
import { javascriptWatch } from './javascript-watch.ts';
import { nodeTestReporter } from './node-test-reporter.ts';
import { expandScripts, scriptCommand, testScripts } from './package-scripts.ts';
import { checkWatch, signedReport } from './signed-report.ts';
import type { ProjectFolder } from './project-folder.ts';
import { relativeFile, reporterEvents, ResultCollector } from './report-file.ts';
import { programUses, simpleCommands } from './shell-words.ts';
import { startsOf } from './started-file.ts';
import { shellQuote } from '../sandbox/shell-quote.ts';
import { watchTestFiles } from './test-files.ts';
import type { TestRunner } from './test-runner.ts';

const TEST_FILE = /(?:(?:^|\/)test[-_.][^/]*|(?:^|\/)test|[-_.]test)\.[cm]?[jt]s$|(?:^|\/)test\/[^/]*\.[cm]?[jt]s$/;

/** A program that starts the files of tests by Node's runner, and takes reporters itself. */
const BORP = ['borp'];

/** Node's own test runner. */
export const nodeTest: TestRunner<'node-test'> = {
  name: 'node-test',
  manifests: ['package.json'],
  idRoot: 'file',

  async detect(folder) {
    const found = await folder.packageFile();
    const commands: string[] = [];
    for (const script of found ? testScripts(found) : []) {
      const command = scriptCommand(script);
      const expanded = await expandScripts(command, folder.folder);
      // A script that is a single program is used directly: `npm test` takes a third of a second more and adds nothing.
      if (await startsTests(expanded, folder)) commands.push(simpleCommands(expanded).length === 1 ? expanded : command);
    }
    if (commands.length > 0) return commands;
    const test = found?.scripts.test;
    if (test !== undefined && !/no test specified/.test(test)) return [];
    return (await folder.hasFile(TEST_FILE, { text: NODE_TEST, manifests: ['package.json'] })) ? ['node --test'] : [];
  },

  understands: (command) => programUses(command, ['node', ...BORP]).length > 0,
  isSure: saysTest,
  configuration: [/(^|\/)node\.config\.json$/, /(^|\/)\.borp\.ya?ml$/],

  async prepare(run) {
    const signed = await signedReport(run.report);
    const [watch, reporter] = [path.join(run.tools, 'conductor-watch.cjs'), path.join(run.tools, 'reporter.mjs')];
    await writeFile(watch, javascriptWatch({ copy: run.shown, signed }));
    const guard = await guardOfTests(run, watch);
    const isBorp = programUses(run.command, BORP).length > 0;
    // Node imports it: on Windows, the letter of a drive would be taken for a protocol.
    const options = isBorp ? guard.option : `${guard.option} --test-reporter=${nodeOption(pathToFileURL(reporter).href)} --test-reporter-destination=stdout`;
    await writeFile(reporter, nodeTestReporter({ watch, options, guardOption: guard.option, startsFiles: isBorp ? 'true' : "process.execArgv.includes('--test')" }));
    const checkTestFiles = await watchTestFiles(run.copy);
    return {
      ...withNodeOptions(isBorp ? reportedByBorp(run.command, reporter) : withoutReporters(run.command), options),
      programFolders: await binFolders(run),
      hasEnded: signed.hasEnded,
      readReport: async ({ said }) => {
        await checkTestFiles();
        const lines = await signed.read().catch((error: unknown) => {
          throw error instanceof NoReportError ? (readsNoPatterns(said, run.shown) ?? error) : error;
        });
        const report = parseEvents(lines, run.shown);
        checkWatch(await guard.read(), report);
        return report;
      },
    };
  },
};

/** Node before 21 takes a pattern for the name of a file. */
function readsNoPatterns(said: string, copy: string): ReportError | undefined {
  const [, file] = /Could not find '([^'\n]*\*[^'\n]*)'/.exec(said) ?? [];
  return file === undefined ? undefined : new ReportError(`"${relativeFile(file, copy)}" is a pattern, which Node reads since version 21, and this one does not. Put a newer Node on PATH, or name it in .nvmrc.`);
}

/** Node needs a destination for every reporter, so the project's own reporters are removed. */
const withoutReporters = (command: string): string => command.replaceAll(/\s--test-reporter(?:-destination)?(?:=|\s+)(?:"[^"]*"|'[^']*'|\S+)/g, '');

/** Coverage takes time, and fails below a threshold. */
const reportedByBorp = (command: string, reporter: string): string => withOptions(command, BORP, {
  remove: ['--reporter', '-r'],
  flags: ['--coverage', '-C', '--check-coverage', '--watch', '-w'],
  add: `--reporter ${shellQuote(reporter)}`,
});

const NODE_TEST = /['"]node:test['"]/;

const wordsForNode = (command: string): readonly string[] => programUses(command, ['node']).flatMap((use) => use.arguments.map(({ text }) => text));

function saysTest(command: string): boolean {
  return programUses(command, BORP).length > 0 || wordsForNode(command).includes('--test');
}

/** Whether a command has Node run tests: by `--test`, by borp, or by a file that has or loads some, which run when it is started. */
const startsTests = async (command: string, folder: ProjectFolder): Promise<boolean> => saysTest(command) || (await startsOf(NODE_TEST, command, folder)).length > 0;

const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start') }),
  z.object({ type: z.literal('end') }),
  z.object({
    type: z.enum(['test:start', 'test:complete', 'test:pass', 'test:fail', 'test:plan', 'test:summary']),
    file: z.string().optional(),
    /** The file that the process was started with, if Node reports it. */
    entryFile: z.string().optional(),
    name: z.string(),
    nesting: z.number().int().nonnegative().max(1_000),
    suite: z.boolean(),
    skipped: z.boolean(),
    hasFailed: z.boolean(),
    /** Of a plan, the number of results in it; of a summary, the number of tests. */
    count: z.number().optional(),
    message: z.string().optional(),
    durationMs: z.number().nonnegative().optional(),
  }),
]);

type RunnerEvent = Extract<z.infer<typeof eventSchema>, { readonly nesting: number }>;

/**
 * Reads the lines of the reporter. Events come in the order of the tests, file after file, and a suite starts before its tests. So the open
 * names are the path of a test. The later of two tests with the same path gets a number. Throws `ReportError`.
 */
export function parseEvents(lines: string, copy: string): TestReport {
  const collector = new ResultCollector(copy);
  let order = new EventOrder();
  for (const event of reporterEvents(lines, eventSchema)) {
    // A command may run tests several times.
    if (event.type === 'start') order = new EventOrder();
    if (event.type === 'start') continue;
    const names = order.add(event);
    if (names === undefined) continue;
    const file = event.file ?? '';
    const relative = file === '' ? undefined : relativeFile(file, copy);
    // The runner reports a file itself if it has no tests or failed outside of them.
    const isFile = event.nesting === 0 && path.resolve(copy, event.name) === file;
    const isContainer = isFile || event.suite;
    collector.add({
      kind: isContainer ? 'container' : 'test',
      status: event.skipped ? 'skipped' : event.type === 'test:pass' ? 'passed' : 'failed',
      path: isFile ? [relative] : [relative, ...names],
      message: event.message,
      durationMs: event.durationMs,
    });
  }
  return { results: collector.results };
}

/**
 * Code under test can send events to the runner on the stdout of its process. So events must be consistent: one result per started test,
 * which agrees with its completion, no more results than planned, and none after the end.
 */
class EventOrder {
  /** The open tests and suites, with the number of results in each. */
  readonly #open: { name: string; results: number }[] = [];
  readonly #completed = new Map<string, boolean[]>();
  readonly #tests = new Map<string, number>();
  readonly #ended = new Set<string>();

  /** The path of a result. Undefined for an event that is not a result. Throws `ReportError`. */
  add(event: RunnerEvent): readonly string[] | undefined {
    const { type, nesting, name } = event;
    const entry = event.entryFile ?? event.file ?? '';
    const key = `${entry}\0${nesting}\0${name}`;
    switch (type) {
      case 'test:start':
        if (nesting > this.#open.length) throw planted();
        this.#open.splice(nesting, Infinity, { name, results: 0 });
        return undefined;
      case 'test:complete':
        this.#completed.set(key, [...(this.#completed.get(key) ?? []), !event.hasFailed]);
        return undefined;
      case 'test:plan':
        if (nesting > 0 && (this.#open[nesting - 1]?.results ?? 0) > (event.count ?? 0)) throw planted();
        return undefined;
      case 'test:summary':
        if (event.file === undefined) return undefined;
        if ((this.#tests.get(entry) ?? 0) > (event.count ?? 0)) throw planted();
        this.#ended.add(entry);
        return undefined;
      default:
        return this.#addResult(event, entry, key);
    }
  }

  #addResult({ type, nesting, name, suite, hasFailed }: RunnerEvent, entry: string, key: string): readonly string[] {
    const hasPassed = type === 'test:pass';
    const isFile = nesting === 0 && isSameFile(name, entry);
    // If a hook of a whole file fails, the file fails without a start. Failures need no proof.
    if (isFile && !hasPassed && this.#open[0]?.name !== name) return [name];
    if (this.#open.length <= nesting || this.#open[nesting]?.name !== name || hasPassed === hasFailed) throw planted();
    const names = this.#open.slice(0, nesting + 1).map((open) => open.name);
    this.#open.splice(nesting);
    const above = this.#open.at(-1);
    if (above) above.results += 1;
    const completed = this.#completed.get(key);
    // Before 20.10, Node does not report completion.
    if (this.#completed.size > 0 && completed?.includes(hasPassed) !== true) throw planted();
    completed?.splice(completed.indexOf(hasPassed), 1);
    if (isFile) return names;
    if (this.#ended.has(entry)) throw planted();
    if (!suite) this.#tests.set(entry, (this.#tests.get(entry) ?? 0) + 1);
    return names;
  }
}

/** The runner reports a file by its path, relative or absolute. */
const isSameFile = (name: string, entry: string): boolean => entry === name || entry.endsWith(`${path.sep}${name}`);

const planted = (): ReportError => new ReportError('The report has results that Node did not write.');
