import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { TestReport } from '../test-report.ts';
import { binFolders } from './javascript-project.ts';
import { NODE_TEST_REPORTER } from './node-test-reporter.ts';
import { expandScripts, testScripts } from './package-scripts.ts';
import { readReportFile, relativeFile, reporterEvents, ResultCollector } from './report-file.ts';
import { programUses, simpleCommands } from './shell-words.ts';
import type { TestRunner } from './test-runner.ts';

const TEST_FILE = /(?:(?:^|\/)test[-_.][^/]*|(?:^|\/)test|[-_.]test)\.[cm]?[jt]s$|(?:^|\/)test\/[^/]*\.[cm]?[jt]s$/;

/** Node's own test runner. */
export const nodeTest: TestRunner = {
  name: 'node-test',

  async detect(folder) {
    const found = await folder.packageFile();
    const commands: string[] = [];
    for (const script of found ? testScripts(found) : []) {
      const command = `npm ${script === 'test' ? 'test' : `run ${script}`}`;
      const expanded = await expandScripts(command, folder.folder);
      // The script itself where that is one program, not `npm test`: npm costs a third of a second and adds nothing.
      if (isNodeTest(expanded)) commands.push(simpleCommands(expanded).length === 1 ? expanded : command);
    }
    if (commands.length > 0) return commands;
    const test = found?.scripts.test;
    if (test !== undefined && !/no test specified/.test(test)) return [];
    return (await folder.hasFile(TEST_FILE, { text: /['"]node:test['"]/, manifests: ['package.json'] })) ? ['node --test'] : [];
  },

  understands: (command) => programUses(command, ['node']).length > 0,
  configuration: [/(^|\/)node\.config\.json$/],

  async prepare(run) {
    const reporter = path.join(run.tools, 'reporter.mjs');
    const destination = path.join(run.report, `${randomUUID()}.jsonl`);
    await writeFile(reporter, NODE_TEST_REPORTER);
    return {
      // Node wants a destination for every reporter; the project's own would be one too many.
      command: run.command.replaceAll(/\s--test-reporter(?:-destination)?(?:=|\s+)(?:"[^"]*"|'[^']*'|\S+)/g, ''),
      environment: {
        NODE_OPTIONS: `--test-reporter=${nodeOption(reporter)} --test-reporter-destination=${nodeOption(destination)}`,
      },
      programFolders: binFolders(run),
      readReport: async () => parseEvents(await readReportFile(destination), run.copy),
    };
  },
};

const isNodeTest = (command: string): boolean =>
  programUses(command, ['node']).some((use) => use.arguments.some(({ text }) => text === '--test'));

/** NODE_OPTIONS is split at spaces outside double quotes. */
function nodeOption(file: string): string {
  return `"${file.replaceAll(/["\\]/g, '\\$&')}"`;
}

const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('end') }),
  z.object({
    type: z.enum(['test:start', 'test:pass', 'test:fail']),
    file: z.string().optional(),
    name: z.string(),
    nesting: z.number().int().nonnegative().max(1_000),
    suite: z.boolean(),
    skipped: z.boolean(),
    failureType: z.string().optional(),
    message: z.string().optional(),
    durationMs: z.number().nonnegative().optional(),
  }),
]);

/**
 * Reads the lines of the reporter. The events of a file come in the order of its tests, a start before the starts of what is
 * inside, so that the open names of a file are the path of a test. Of two tests with one path the later gets a number.
 */
export function parseEvents(lines: string, copy: string): TestReport {
  const collector = new ResultCollector(copy);
  const openNames = new Map<string, string[]>();
  for (const event of reporterEvents(lines, eventSchema)) {
    const file = event.file ?? '';
    const names = openNames.get(file) ?? [];
    openNames.set(file, names);
    names.length = Math.min(names.length, event.nesting);
    names[event.nesting] = event.name;
    if (event.type === 'test:start') continue;

    const relative = file === '' ? undefined : relativeFile(file, copy);
    // The runner reports a file of its own where it has no test, or has failed outside of them.
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
