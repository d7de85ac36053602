import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { escapeRegExp } from '../../common/escape-regexp.ts';
import { shellQuote } from '../sandbox/sandbox.ts';
import { ID_SEPARATOR, ReportError, type TestReport } from './test-report.ts';
import { buildAhead, CARGO_ENVIRONMENT, fromLayer } from './cargo-layer.ts';
import { cargoRunner, rustdocWrapper } from './cargo-tools.ts';
import { ProjectFolder } from './project-folder.ts';
import { jsonLines, readReportFile, ResultCollector, unreadable } from './report-file.ts';
import { programUses, withEdits, type Edit, type ProgramUse } from './shell-words.ts';
import type { TestRunner } from './test-runner.ts';

const BUILD_FILE = 'build.jsonl';
const MAX_BINARIES = 1_000;

/** Options that would mix other output with libtest's events. */
const REMOVED_FLAGS = /^--(?:nocapture|no-capture|show-output|format|message-format|quiet|no-fail-fast)(?:=.*)?$|^-q$/;

/** `cargo test`, read from libtest's JSON events. `cargo-tools.ts` makes it write them. */
export const cargoTest: TestRunner<'cargo'> = {
  name: 'cargo',
  manifests: ['Cargo.toml'],
  idRoot: 'cargo target',
  buildsFoldersBelow: true,
  detect: async (folder) => ((await folder.has('Cargo.toml')) ? ['cargo test'] : []),
  understands: (command) => testUses(command).length > 0,
  configuration: [/(^|\/)(cargo\.(toml|lock)|build\.rs|rust-toolchain(\.toml)?)$/, /(^|\/)(\.cargo|vendor)\//],

  async prepare(run) {
    const uses = testUses(run.command);
    if (uses.length === 0)
      throw new ReportError(`"${run.command}" cannot be made to write a report: name the "cargo test" command that it runs.`);
    // What writes the report is a script of a POSIX shell.
    if (process.platform === 'win32') throw new ReportError('The results of "cargo test" cannot be read on Windows: use cargo-nextest, or open the folder in WSL.');
    const [runner, rustdoc] = [path.join(run.tools, 'run-test-binary'), path.join(run.tools, 'rustdoc')];
    const binaries = path.join(run.report, 'binaries');
    await mkdir(binaries);
    await writeFile(runner, cargoRunner(shellQuote(binaries)), { mode: 0o755 });
    await writeFile(rustdoc, rustdocWrapper(shellQuote(binaries), 'rustdoc'), { mode: 0o755 });
    const build = path.join(run.report, BUILD_FILE);
    const options = [
      ...['--offline', '--no-fail-fast', '--message-format', 'json-render-diagnostics'],
      ...['--config', shellQuote(`target."cfg(all())".runner=[${JSON.stringify(runner)}]`)],
    ].join(' ');
    const edits: Edit[] = [];
    for (const { arguments: words, command } of uses) {
      const verb = words.find(({ text }) => !text.startsWith('+'));
      if (!verb) continue;
      edits.push({ start: verb.end, end: verb.end, text: ` ${options}` });
      for (const { text, start, end } of words) if (REMOVED_FLAGS.test(text)) edits.push({ start, end, text: '' });
      const end = command.words.at(-1)?.end ?? verb.end;
      edits.push({ start: end, end, text: ` >>${shellQuote(build)}` });
    }
    return {
      command: `${fromLayer(run.layer)}${withEdits(run.command, edits)}`,
      environment: { RUSTDOC: rustdoc, ...CARGO_ENVIRONMENT },
      readReport: async ({ printed }) => {
        const names = await readdir(binaries).catch(() => []);
        if (names.length > MAX_BINARIES) throw new ReportError(`There are more than ${MAX_BINARIES} reports.`);
        const texts = await Promise.all(names.map((name) => readReportFile(path.join(binaries, name))));
        const project = new ProjectFolder(run.copy);
        const packages = await packageFolders(project);
        const reports = { build: await readReportFile(build), binaries: texts, packages: [...packages.keys()], printed };
        return await withEmptyPackages(parseCargoReports(reports, run.shown), { build: reports.build, packages, project });
      },
    };
  },

  build: (run) => buildAhead(run, testUses(run.command).map((use) => use.arguments.find(({ text }) => !text.startsWith('+')))),
};

const testUses = (command: string): readonly ProgramUse[] =>
  programUses(command, ['cargo']).filter((use) =>
    ['test', 't'].includes(use.arguments.find(({ text }) => !text.startsWith('+'))?.text ?? ''),
  );

/** The packages of a project by name: the one in its folder, members of its workspace, and others below. Each with its folder, relative and with a slash at its end. */
async function packageFolders(project: ProjectFolder): Promise<ReadonlyMap<string, string>> {
  const folders = new Map<string, string>();
  for (const file of ['Cargo.toml', ...(await project.filesNamed(/(^|\/)Cargo\.toml$/))]) {
    const name = /^\[package\][^[]*?^name\s*=\s*["']([\w-]+)["']/ms.exec((await project.text(file)) ?? '')?.[1];
    if (name !== undefined) folders.set(name, file.slice(0, -'Cargo.toml'.length));
  }
  return folders;
}

interface BuiltPackages {
  readonly build: string;
  readonly packages: ReadonlyMap<string, string>;
  readonly project: ProjectFolder;
}

/** Attributes and macros of tests, also of crates that bring their own: rather too many. */
const HOLDS_TESTS = /#\s*\[[^\]]*(?:test|theory|parameterized|bench|quickcheck)|\b(?:quickcheck|proptest)!/;

/**
 * After a build that succeeded, packages of which no test ran are empty: those that the command does not test, such as one for fuzzing, and those
 * whose source has no test. A patch may keep tests from being compiled, so that none ran does not suffice.
 */
async function withEmptyPackages(report: TestReport, { build, packages, project }: BuiltPackages): Promise<TestReport> {
  // After one that failed, each package is in the report.
  const silent = [...packages].filter(([name]) => !report.results.some(({ id }) => id === name || id.startsWith(`${name}${ID_SEPARATOR}`)));
  if (silent.length === 0) return report;
  const collector = new ResultCollector('');
  const messages = buildMessages(build);
  for (const [name, folder] of silent) {
    const isTested = messages.some(({ profile, manifest_path: manifest }) => profile?.test && manifest?.endsWith(`/${folder}Cargo.toml`));
    if (isTested && (await holdsTests(project, folder, [...packages.values()]))) continue;
    collector.add({ kind: 'container', status: 'passed', path: [name], isEmpty: true });
  }
  return { ...report, results: [...report.results, ...collector.results] };
}

async function holdsTests(project: ProjectFolder, folder: string, folders: readonly string[]): Promise<boolean> {
  const inner = folders.filter((other) => other !== folder && other.startsWith(folder));
  for await (const file of project.files(new RegExp(`^${escapeRegExp(folder)}.*\\.rs$`), { text: HOLDS_TESTS }))
    if (!inner.some((other) => file.startsWith(other))) return true;
  return false;
}

const buildSchema = z.object({
  reason: z.string(),
  success: z.boolean().optional(),
  executable: z.string().nullish(),
  target: z.object({ name: z.string(), kind: z.array(z.string()) }).optional(),
  profile: z.object({ test: z.boolean() }).optional(),
  manifest_path: z.string().optional(),
});

/** What cargo said of its build. Binaries without libtest's harness write to the same output. */
const buildMessages = (text: string): readonly z.infer<typeof buildSchema>[] => text.split('\n').filter((line) => line.startsWith('{"reason":')).flatMap((line) => {
  const { data } = buildSchema.safeParse([...jsonLines(line)][0]);
  return data ? [data] : [];
});

const eventSchema = z.object({
  type: z.string(),
  event: z.string().optional(),
  name: z.string().optional(),
  stdout: z.string().optional(),
  exec_time: z.number().optional(),
  passed: z.number().optional(),
  failed: z.number().optional(),
  ignored: z.number().optional(),
  /** Of the end: the exit code of the test binary, or of rustdoc. */
  code: z.number().optional(),
});

const headSchema = z.object({
  type: z.literal('binary'),
  package: z.string(),
  path: z.string(),
  /** False if it has a harness of its own: then there is nothing but its end. */
  harness: z.boolean().default(true),
});

export interface CargoReports {
  /** The output of cargo with `--message-format json`. */
  readonly build: string;
  /** One per test binary. */
  readonly binaries: readonly string[];
  /** The names of the packages. If the build fails, their tests are hidden. */
  readonly packages: readonly string[];
  /** What cargo and the compiler printed. */
  readonly printed?: string;
}

/** The compiler's first error and its place, or what cargo itself says. */
const BUILD_ERROR = /^error(?:\[E\d+\])?: (?!could not compile|aborting)(.+)(?:\n *--> (.+))?/m;

/**
 * If the build fails, no test runs, and every package counts as failed. Ids are package, target (except for the library's own tests), name.
 * Documentation tests are named without their line number, because edits above them change it. Throws `ReportError`.
 */
export function parseCargoReports({ build, binaries, packages, printed = '' }: CargoReports, copy: string): TestReport {
  const collector = new ResultCollector(copy);
  const targets = new Map<string, string | undefined>();
  let hasBuilt: boolean | undefined;
  for (const { reason, success, profile, executable, target } of buildMessages(build)) {
    if (reason === 'build-finished') hasBuilt = (hasBuilt ?? true) && success === true;
    if (reason !== 'compiler-artifact' || !profile?.test || !executable || !target) continue;
    const [kind = ''] = target.kind;
    targets.set(executable, ['lib', 'rlib', 'proc-macro', 'cdylib', 'dylib'].includes(kind) ? undefined : `${kind} ${target.name}`);
  }
  if (hasBuilt === undefined) throw new ReportError('cargo did not start to build the tests.');
  if (!hasBuilt) {
    const [, error, place] = BUILD_ERROR.exec(printed) ?? [];
    const message = error === undefined ? 'It cannot be built.' : `It cannot be built: ${error.trim()}${place === undefined ? '' : ` at ${place}`}`;
    for (const name of packages) collector.add({ kind: 'container', status: 'failed', path: [name], message });
  }

  const parts = binaries.map((text) => binaryOf(text));
  const sortKey = (part: Binary): string => `${part.head.package}\0${targets.get(part.head.path) ?? ''}\0${part.head.path}`;
  for (const part of parts.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))) {
    const target = part.head.path === 'doc' ? 'doc' : targets.get(part.head.path);
    const names = [part.head.package, target];
    if (!part.head.harness) {
      const message = part.code === 0 ? undefined : part.code === undefined ? 'It did not come to its end.' : `It ended with exit code ${part.code}.`;
      collector.add({ kind: 'test', status: part.code === 0 ? 'passed' : 'failed', path: names, message });
      continue;
    }
    for (const { name, status, message, durationMs } of part.tests) {
      // Only its source can have a documentation test ignored. Where another of the same item is run, that one is told.
      if (target === 'doc' && status === 'skipped') continue;
      collector.add({ kind: 'test', status, path: [...names, name.replace(/ \(line \d+\)/, '')], message, durationMs });
    }
    if (!part.isWhole) collector.add({ kind: 'container', status: 'failed', path: names, message: 'It ended before its tests did.' });
  }
  return { results: collector.results };
}

interface Binary {
  readonly head: z.infer<typeof headSchema>;
  readonly tests: readonly { name: string; status: 'passed' | 'failed' | 'skipped'; message?: string; durationMs?: number }[];
  /** False if the process ended before libtest did. */
  readonly isWhole: boolean;
  /** How it ended, if it did. */
  readonly code: number | undefined;
}

/**
 * Tests can write to the file with libtest's events. So each end of a test must have a start of its own, and the counts must agree with libtest's
 * last event of the suite, which precedes the end that the runner writes. That has the exit code, which says whether a test failed. What code under test
 * can do all the same is to write all of this and to end the process itself: `marks.ts` names the lines that could.
 */
function binaryOf(text: string): Binary {
  const [first, ...lines] = text.split('\n').filter((line) => line !== '');
  const head = headSchema.safeParse(first === undefined ? undefined : [...jsonLines(first)][0]).data;
  if (!head) throw unreadable(first ?? '');
  // How many tests of each name run. There may be two: a macro can write a test anew and leave its `#[test]` there.
  const running = new Map<string, number>();
  const tests: Binary['tests'][number][] = [];
  const counts = { ok: 0, failed: 0, ignored: 0 };
  const isDoc = head.path === 'doc';
  const said = { passed: 0, failed: 0, ignored: 0 };
  let suites = 0;
  let end: z.infer<typeof eventSchema> | undefined;
  for (const line of lines) {
    // Output that bypasses libtest may precede an event in its line.
    const json = line.slice(Math.max(0, line.lastIndexOf('{ "type"')));
    if (!json.startsWith('{')) continue;
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch {
      continue;
    }
    const event = eventSchema.safeParse(value).data;
    if (event?.type === 'end') end = event;
    if (event?.type === 'suite' && event.event !== 'started') {
      // From edition 2024 on, rustdoc builds the documentation tests that can share a binary into one, and reports the others after it.
      if (suites > 0 && !isDoc) throw planted();
      suites += 1;
      for (const count of ['passed', 'failed', 'ignored'] as const) said[count] += event[count] ?? 0;
    }
    if (event?.type !== 'test' || event.name === undefined) continue;
    const alike = running.get(event.name) ?? 0;
    if (event.event === 'started') running.set(event.name, alike + 1);
    else if (event.event === 'ok' || event.event === 'failed' || event.event === 'ignored') {
      if (alike === 0) throw planted();
      running.set(event.name, alike - 1);
      counts[event.event] += 1;
      tests.push({
        name: event.name,
        status: event.event === 'ok' ? 'passed' : event.event === 'failed' ? 'failed' : 'skipped',
        ...(event.event === 'failed' && event.stdout !== undefined && { message: event.stdout.trim() }),
        ...(event.exec_time !== undefined && { durationMs: event.exec_time * 1_000 }),
      });
    }
  }
  const saysFailure = !isDoc && end?.code !== 0 && counts.failed === 0;
  const isWhole = end !== undefined && !saysFailure && suites > 0 && [...running.values()].every((left) => left === 0);
  if (isWhole && (said.passed !== counts.ok || said.failed !== counts.failed || said.ignored !== counts.ignored)) throw planted();
  // A planted report beside the real one would say of a test what that does not.
  const [names, endings] = [new Set(tests.map(({ name }) => name)), new Set(tests.map(({ name, status }) => `${status} ${name}`))];
  if (isDoc && endings.size > names.size) throw planted();
  if (isWhole && end?.code === 0 && counts.failed > 0) throw planted();
  return { head, tests, isWhole, code: end?.code };
}

const planted = (): ReportError => new ReportError('The report has results that the test runner did not write.');
