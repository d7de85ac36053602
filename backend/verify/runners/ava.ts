import { readdir } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { AVA_SIGNS, AVA_WITNESS } from './ava-witness.ts';
import { nodeOption, withNodeOptions } from './javascript-guard.ts';
import { binFolders, scriptCommands, understandsProgram, withOptions, type JavaScriptRunner } from './javascript-project.ts';
import { isOwnFolder } from './project-folder.ts';
import { reporterEvents, ResultCollector } from './report-file.ts';
import { parseTap, type TapPoint } from './tap-report.ts';
import { signedModules } from './signed-modules.ts';
import type { TestReport } from './test-report.ts';
import type { TestRunner } from './test-runner.ts';
import { witnessGuard } from './witness-guard.ts';
import { notSeen, seenId, testsSeen, witnessEvents, type WitnessEvent } from './witnesses.ts';

const AVA: JavaScriptRunner = { programs: ['ava'], packages: ['ava'], fallback: 'ava' };

const MAIN = /(?:^|[\\/])ava(?:[\\/]|$)/;

/** ava, read from the TAP of its main process, which signs it. Tests run in workers, which are witnesses (`witness-guard.ts`). */
export const ava: TestRunner<'ava'> = {
  name: 'ava',
  manifests: ['package.json'],
  idRoot: 'file',
  detect: (folder) => scriptCommands(folder, AVA),
  understands: (command) => understandsProgram(command, AVA),
  configuration: [/(^|\/)ava\.config\.[^/]+$/],

  async prepare(run) {
    const requires = (file: string): string => `--require=${nodeOption(file)}`;
    const { reporter, hasEnded, readLines } = await signedModules(run, (watch, itself) =>
      witnessGuard({ watch, option: requires(itself), isMain: MAIN, signs: AVA_SIGNS, witness: AVA_WITNESS }));
    const command = withOptions(run.command, AVA.programs, {
      remove: [], flags: ['--tap', '-t', '--watch', '-w', '--verbose', '-v', '--fail-fast', '--update-snapshots', '-u'], add: '--tap --no-fail-fast',
    });
    const prepared = withNodeOptions(command, requires(reporter));
    return {
      command: prepared.command,
      environment: { ...prepared.environment, CI: 'true' },
      programFolders: await binFolders(run),
      hasEnded,
      readReport: async () => reportOf(await readLines(), run.shown, await sources(run.copy)),
    };
  },
};

const lineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start') }),
  z.object({ type: z.literal('end') }),
  z.object({ type: z.literal('tap'), text: z.string() }),
  ...witnessEvents,
]);

/** `files`: the sources of the copy, relative. ava names the file of a test by parts of its path, and not at all if it is the only one. */
export function reportOf(lines: string, copy: string, files: readonly string[]): TestReport {
  const texts: string[] = [];
  const events: WitnessEvent[] = [];
  for (const event of reporterEvents(lines, lineSchema)) {
    if (event.type === 'tap') texts.push(event.text);
    else if (event.type !== 'start') events.push(event);
  }
  const points = parseTap(texts.join(''));
  checkTitles(points, events);
  const collector = new ResultCollector(copy);
  const titles = points.map(({ title }) => title.split(SEPARATOR));
  const tests = files.filter((file) => TEST_FILE.test(file));
  for (const [index, { status, message }] of points.entries()) {
    const parts = titles[index] ?? [];
    const crashed = status === 'failed' ? CRASH.exec(parts.join(SEPARATOR))?.slice(1).find((file) => file !== undefined) : undefined;
    if (crashed !== undefined) collector.add({ kind: 'container', status, path: [crashed], message: message ?? parts.join(SEPARATOR) });
    else collector.add({ kind: 'test', status, path: placeOf(parts, tests), message });
  }
  return { results: collector.results };
}

/** As `checkWitnesses` does. A worker knows the title of its test, in front of which the report may have parts of its file's path. */
function checkTitles(points: readonly TapPoint[], events: readonly WitnessEvent[]): void {
  if (!events.some(({ type }) => type === 'watched')) return;
  const left = new Map([...testsSeen(events, '')].map(([title, { passed }]) => [title, passed]));
  for (const { title, status } of points) {
    if (status !== 'passed') continue;
    const parts = title.split(SEPARATOR);
    const seen = parts.map((_, index) => seenId([parts.slice(index).join(SEPARATOR)])).find((end) => (left.get(end) ?? 0) > 0);
    if (seen === undefined) throw notSeen(title);
    left.set(seen, (left.get(seen) ?? 0) - 1);
  }
}

const SEPARATOR = ' › ';
/** The names that ava looks for. */
const TEST_FILE = /(?:^|\/)tests?\.[cm]?[jt]sx?$|(?:^|\/)test-[^/]*\.[cm]?[jt]sx?$|\.(?:test|spec)\.[cm]?[jt]sx?$|(?:^|\/)(?:tests?|__tests__)\/(?:.*\/)?[^_/][^/]*\.[cm]?[jt]sx?$/;
const CRASH = /^(?:No tests found in ([^,]+)|(\S+) exited (?:with a non-zero exit code|due to ).*)/;

/** File and name of a test. The longest prefix that is the end of a file's parts is its file. */
function placeOf(parts: readonly string[], tests: readonly string[]): readonly string[] {
  const only = tests.length === 1 ? tests[0] : undefined;
  for (let length = parts.length - 1; length > 0; length -= 1) {
    const prefix = parts.slice(0, length).join('/');
    const found = tests.filter((file) => `/${shortened(file)}`.endsWith(`/${prefix}`));
    if (found.length === 1 && found[0] !== undefined) return [found[0], parts.slice(length).join(SEPARATOR)];
  }
  return only === undefined ? [parts.join(SEPARATOR)] : [only, parts.join(SEPARATOR)];
}

/** As ava writes a path in a title. */
const shortened = (file: string): string => {
  const parts = file.split('/').filter((part) => part !== '__tests__');
  const name = (parts.pop() ?? '').replace(/\.spec\./, '.').replace(/\.test\./, '.').replace('test-', '').replace(/\.[cm]?[jt]sx?$/, '');
  return [...parts, name].join('/');
};

const MAX_DEPTH = 6;
const MAX_FILES = 20_000;

async function sources(copy: string): Promise<readonly string[]> {
  const found: string[] = [];
  const folders = [''];
  for (let index = 0; index < folders.length && found.length < MAX_FILES; index += 1) {
    const folder = folders[index] ?? '';
    for (const entry of await readdir(path.join(copy, folder), { withFileTypes: true }).catch(() => [])) {
      const relative = path.posix.join(folder, entry.name);
      if (entry.isDirectory() && isOwnFolder(entry.name) && relative.split('/').length < MAX_DEPTH) folders.push(relative);
      else if (entry.isFile() && /\.[cm]?[jt]sx?$/.test(entry.name)) found.push(relative);
    }
  }
  return found;
}
