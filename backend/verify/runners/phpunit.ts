import { mkdir, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { composerFile, testScript } from './composer-scripts.ts';
import { phpunitReporter } from './phpunit-reporter.ts';
import { exists, type ProjectFolder } from './project-folder.ts';
import { checkWatch, signedReport, watchEvents, type WatchEvent } from './signed-report.ts';
import { relativeFile, reporterEvents, ResultCollector } from './report-file.ts';
import { folderAt, programUses, simpleCommands, type ProgramUse } from './shell-words.ts';
import { watchTestFiles } from './test-files.ts';
import { BROKEN_RUN, ID_SEPARATOR, type TestReport } from './test-report.ts';
import type { RunToPrepare, TestRunner } from './test-runner.ts';

const CONFIGURATIONS = ['phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml'];
/** Where PHPUnit is in a project, the likeliest first. */
const PLACES = ['vendor/bin/phpunit', 'bin/phpunit', 'vendor/phpunit/phpunit/phpunit', 'phpunit.phar', 'tools/phpunit.phar', 'tools/phpunit'];
const PROGRAM = /(?:^|\/)phpunit[\d.-]*(?:\.phar)?$/;

/** In the composer.json of a project that is tested by Pest, and of Pest itself. */
export const PEST = /"(?:name"\s*:\s*")?pestphp\/pest"/;

/** PHPUnit 8 and later. */
export const phpunit: TestRunner<'phpunit'> = {
  name: 'phpunit',
  manifests: ['composer.json', ...CONFIGURATIONS],
  idRoot: 'file',

  async detect(folder) {
    const asked = await composerFile(folder);
    // Pest reads PHPUnit's configuration, and PHPUnit does not know its tests.
    if (PEST.test((await folder.text('composer.json')) ?? '')) return [];
    const isConfigured = await folder.has(...CONFIGURATIONS);
    const usesIt = isConfigured || asked?.packages.has('phpunit/phpunit') === true;
    const script = asked && testScript(asked, isPhpunit);
    if (script !== undefined) return [`composer ${script}`];
    return usesIt ? [await ownCommand(folder, isConfigured)] : [];
  },

  understands: isPhpunit,
  configuration: [/(^|\/)phpunit(\.[\w-]+)*\.xml(\.[\w-]+)?$/, /(^|\/)phpunit[\d.-]*\.phar$/, /(^|\/)tools\/phpunit$/],

  async prepare(run) {
    const report = await signedReport(run.report);
    const settings = path.join(run.tools, 'php');
    const reporter = path.join(settings, 'reporter.php');
    await mkdir(settings, { recursive: true });
    await writeFile(reporter, phpunitReporter({ ...report, copy: run.shown }));
    await writeFile(path.join(settings, 'conductor.ini'), `auto_prepend_file="${reporter}"\n`);
    const checkTestFiles = await watchTestFiles(run.copy);
    return {
      command: run.command,
      // An empty entry stands for the folder that PHP was built with. Coverage takes time, and nobody reads it here.
      environment: { PHP_INI_SCAN_DIR: `:${settings}`, XDEBUG_MODE: 'off' },
      programFolders: await binFolders(run),
      hasEnded: report.hasEnded,
      readReport: async ({ said }) => {
        await checkTestFiles();
        return parsePhpunitLines(await report.read(), run.shown, said);
      },
    };
  },
};

function isPhpunit(command: string): boolean {
  return phpunitUses(command).length > 0;
}

/** Phars carry their version in their names. */
function phpunitUses(command: string): readonly ProgramUse[] {
  const names = simpleCommands(command).flatMap(({ words }) => words.filter(({ text }) => PROGRAM.test(text)).map(({ text }) => path.posix.basename(text)));
  return programUses(command, names);
}

async function ownCommand(folder: ProjectFolder, isConfigured: boolean): Promise<string> {
  const there = await Promise.all(PLACES.map((place) => exists(path.join(folder.folder, place))));
  const place = PLACES.find((_, index) => there[index]);
  const program = place === undefined ? 'phpunit' : place.endsWith('.phar') ? `php ${place}` : place;
  if (isConfigured) return program;
  const names = ['tests', 'test', 'Tests', 'Test'];
  const tests = await Promise.all(names.map((name) => folder.has(name)));
  return `${program} ${names.find((_, index) => tests[index]) ?? '.'}`;
}

/** What Composer puts on PATH for its scripts. */
async function binFolders({ command, copy, shown }: Pick<RunToPrepare, 'command' | 'copy' | 'shown'>): Promise<readonly string[]> {
  const bin = path.posix.join(folderAt(command), 'vendor/bin');
  const found = await realpath(path.join(copy, bin)).catch(() => undefined);
  return found === undefined ? [] : [path.join(shown, bin)];
}

const place = { file: z.string().nullable(), names: z.array(z.string()).max(100) };
const lineSchema = z.discriminatedUnion('type', [
  ...watchEvents,
  z.object({ type: z.literal('end') }),
  z.object({ type: z.literal('broken'), ...place, message: z.string().nullable() }),
  z.object({
    type: z.literal('result'),
    ...place,
    kind: z.enum(['test', 'container']),
    status: z.enum(['passed', 'failed', 'skipped']),
    message: z.string().nullable(),
    durationMs: z.number(),
  }),
]);

/** Several providers of data, or hooks, of one class may fail. Throws `ReportError`. @param said what the command printed last, for a run that broke off */
export function parsePhpunitLines(text: string, copy: string, said = ''): TestReport {
  const collector = new ResultCollector(copy);
  const watched: WatchEvent[] = [];
  const failedContainers = new Set<string>();
  for (const event of reporterEvents(text, lineSchema)) {
    if (event.type === 'broken') {
      const message = event.file === null ? (event.message ?? said) : `In ${[relativeFile(event.file, copy), ...event.names].join(ID_SEPARATOR)}: ${event.message ?? 'the process ended'}`;
      collector.add({ kind: 'container', status: 'failed', path: [BROKEN_RUN], message, hidesAll: true });
    } else if (event.type === 'result') {
      const parts = [event.file === null ? undefined : relativeFile(event.file, copy), ...event.names];
      const key = JSON.stringify(parts);
      if (event.kind === 'container' && failedContainers.has(key)) continue;
      if (event.kind === 'container') failedContainers.add(key);
      collector.add({ kind: event.kind, status: event.status, path: parts, message: event.message ?? undefined, durationMs: event.durationMs });
    } else watched.push(event);
  }
  checkWatch(watched, collector);
  return { results: collector.results };
}
