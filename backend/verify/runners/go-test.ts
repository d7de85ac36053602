import { randomUUID } from 'node:crypto';
import path from 'node:path';
import * as z from 'zod';
import { shellQuote } from '../sandbox/sandbox.ts';
import { ID_SEPARATOR, ReportError, type TestReport } from './test-report.ts';
import { buildAhead, GO_ENVIRONMENT, layerOfPackage, linkedCache } from './go-layer.ts';
import type { ProjectFolder } from './project-folder.ts';
import { jsonLines, readReportFile, ResultCollector, unreadable } from './report-file.ts';
import { programUses, withEdits, type Edit, type ProgramUse } from './shell-words.ts';
import { watchTestFiles } from './test-files.ts';
import type { TestRunner } from './test-runner.ts';

/** Options that would change the output of `go test`, or end it early. */
const REMOVED_FLAGS = /^--?(?:json|v|failfast|test\.v|test\.failfast)(?:=.*)?$/;

/**
 * `go test`, read from its own JSON. Tests cannot write to it: go reads their output through a pipe and wraps it in events. A test can
 * still print the mark that ends a test, so a test with two ends counts as failed.
 */
export const goTest: TestRunner<'go'> = {
  name: 'go',
  manifests: ['go.mod'],
  idRoot: 'go package',
  async detect(folder) {
    const packages = await packagesOf(folder);
    return packages.length > 0 && (await folder.hasFile(/_test\.go$/, {})) ? [`go test ${packages.join(' ')}`] : [];
  },
  understands: (command) => testUses(command).length > 0,
  configuration: [/(^|\/)go\.(mod|sum|work|work\.sum)$/, /(^|\/)vendor\//],

  async prepare(run) {
    const destination = path.join(run.report, `${randomUUID()}.jsonl`);
    const uses = testUses(run.command);
    if (uses.length === 0)
      throw new ReportError(`"${run.command}" cannot be made to write a report: name the "go test" command that it runs.`);
    const checkTestFiles = await watchTestFiles(run.copy);
    const edits: Edit[] = [];
    for (const { arguments: [verb, ...words], command } of uses) {
      if (!verb) continue;
      edits.push({ start: verb.end, end: verb.end, text: ' -json -count=1' });
      const own = words.findIndex(({ text }) => text === '-args' || text === '--args');
      for (const { text, start, end } of own < 0 ? words : words.slice(0, own))
        if (REMOVED_FLAGS.test(text)) edits.push({ start, end, text: '' });
      const end = command.words.at(-1)?.end ?? verb.end;
      edits.push({ start: end, end, text: ` >>${shellQuote(destination)}` });
    }
    return {
      command: `${linkedCache(run.layer)}\n${withEdits(run.command, edits)}`,
      environment: GO_ENVIRONMENT,
      readReport: async () => {
        await checkTestFiles();
        return parseGoEvents(await readReportFile(destination), run.shown);
      },
    };
  },

  /** `-exec true` links the test programs and does not start them. */
  build: (run) => {
    const uses = testUses(run.command);
    if (uses.some((use) => use.arguments.some(({ text }) => /^--?exec(?:=|$)/.test(text)))) return Promise.resolve(undefined);
    const edits = uses.flatMap(({ arguments: [verb] }) => (verb ? [{ start: verb.end, end: verb.end, text: ' -count=1 -exec true' }] : []));
    return Promise.resolve(buildAhead(run, edits));
  },

  compiledTests: (ids) => ids.map((id) => layerOfPackage(id.split(ID_SEPARATOR)[0] ?? id)),
};

/** `./...` means the packages of the module in this folder. A workspace must name the packages of each module. */
async function packagesOf(folder: ProjectFolder): Promise<readonly string[]> {
  const workspace = ((await folder.text('go.work')) ?? '').replaceAll(/\/\/.*/g, '');
  const modules = [...workspace.matchAll(/^\s*use\s+(?:\(([^)]*)\)|(.+)$)/gm)].flatMap(([, several, one]) => (several ?? one ?? '').split(/\s+/));
  const inside = modules.map((name) => path.posix.normalize(name.replaceAll('"', ''))).filter((name) => /^\w[\w./-]*$/.test(name));
  const own = (await folder.has('go.mod')) ? ['./...'] : [];
  return [...own, ...inside.map((name) => `./${name.replace(/\/$/, '')}/...`)];
}

const testUses = (command: string): readonly ProgramUse[] =>
  programUses(command, ['go']).filter((use) => use.arguments[0]?.text === 'test');

const eventSchema = z.object({
  Action: z.string(),
  Package: z.string().optional(),
  ImportPath: z.string().optional(),
  Test: z.string().optional(),
  Output: z.string().optional(),
  Elapsed: z.number().optional(),
  FailedBuild: z.string().optional(),
});

type Event = z.infer<typeof eventSchema>;

/** Before 1.24, go reports failed builds in plain lines. Tests do not write there. Other plain lines are ignored. */
function* eventsOf(text: string): Generator<Event> {
  for (const line of text.split('\n')) {
    const [, failed] = /^FAIL\t(\S+)/.exec(line) ?? [];
    if (failed !== undefined) yield { Action: 'fail', Package: failed, Output: line };
    if (!line.startsWith('{')) continue;
    const [value] = jsonLines(line);
    const { data: event } = eventSchema.safeParse(value);
    if (event === undefined) throw unreadable(line);
    yield event;
  }
}

interface SeenTest {
  readonly package: string;
  /** Absent in events of a whole package. */
  readonly name: string | undefined;
  readonly endings: string[];
  output: string;
  elapsedSeconds: number | undefined;
}

const MAX_OUTPUT = 8_000;

/**
 * A package is a container. It fails by itself if it cannot be built, or fails although no test does; go builds those without tests, too. Subtests keep go's names, which number
 * equal names. Throws `ReportError`.
 */
export function parseGoEvents(text: string, copy: string): TestReport {
  const seen = new Map<string, SeenTest>();
  const buildOutputs = new Map<string, string>();
  const failedBuilds = new Map<string, string>();
  for (const event of eventsOf(text)) {
    const { Action: action, Package: name, Test: test, Output: output = '' } = event;
    if (action === 'build-output' && event.ImportPath !== undefined)
      buildOutputs.set(event.ImportPath, ((buildOutputs.get(event.ImportPath) ?? '') + output).slice(0, MAX_OUTPUT));
    if (name === undefined) continue;
    if (event.FailedBuild !== undefined) failedBuilds.set(name, event.FailedBuild);
    const key = `${name}\0${test ?? ''}`;
    const entry = seen.get(key) ?? { package: name, name: test, endings: [], output: '', elapsedSeconds: undefined };
    seen.set(key, entry);
    if (action === 'output') entry.output = (entry.output + output).slice(-MAX_OUTPUT);
    if (action === 'pass' || action === 'fail' || action === 'skip') {
      entry.endings.push(action);
      entry.elapsedSeconds ??= event.Elapsed;
    }
  }
  const packages = [...seen.values()].filter(({ name }) => name === undefined);
  const tests = [...seen.values()].filter(({ name }) => name !== undefined);
  if (packages.length === 0 || packages.some(({ endings }) => endings.length === 0))
    throw new ReportError('The report ends before the tests did.');
  if (tests.some((test) => !packages.some((found) => found.package === test.package)))
    throw new ReportError('The report has a test without a package.');

  const collector = new ResultCollector(copy);
  const failing = new Set<string>();
  // Packages are tested in parallel.
  for (const test of tests.sort((a, b) => (a.package < b.package ? -1 : a.package > b.package ? 1 : 0))) {
    const [ending] = test.endings;
    const isOneEnding = test.endings.length === 1;
    // A test without an end was running when its package ended.
    const status = !isOneEnding || ending === 'fail' ? 'failed' : ending === 'pass' ? 'passed' : 'skipped';
    if (status === 'failed') failing.add(test.package);
    collector.add({
      kind: 'test',
      status,
      path: [test.package, test.name],
      message: status === 'failed' ? messageOf(test.output) : undefined,
      durationMs: test.elapsedSeconds === undefined ? undefined : test.elapsedSeconds * 1_000,
    });
  }
  for (const { package: name, endings, output } of packages) {
    if (endings.length === 1 && endings[0] === 'skip' && output.includes('[no test files]')) collector.add({ kind: 'container', status: 'passed', path: [name], isEmpty: true });
    if (!endings.includes('fail') || failing.has(name)) continue;
    const message = buildOutputs.get(failedBuilds.get(name) ?? '') ?? output;
    collector.add({ kind: 'container', status: 'failed', path: [name], message });
  }
  return { results: collector.results };
}

/** The output of a test, without go's own lines. */
const messageOf = (output: string): string => output.replaceAll(/^\s*(?:===|---) .*\n/gm, '').trim();
