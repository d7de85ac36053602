import * as z from 'zod';
import { shellQuote } from '../sandbox/sandbox.ts';
import type { TestReport } from './test-report.ts';
import { binFolders, scriptCommands, understandsProgram, withOptions, type JavaScriptRunner } from './javascript-project.ts';
import { mochaReporter } from './mocha-reporter.ts';
import { checkWatch, watchEvents, type WatchEvent } from './signed-report.ts';
import { relativeFile, reporterEvents, ResultCollector } from './report-file.ts';
import { signedModules } from './signed-modules.ts';
import type { TestRunner } from './test-runner.ts';

/** ts-mocha starts mocha with the options that it does not know itself. */
const MOCHA: JavaScriptRunner = { programs: ['mocha', '_mocha', 'ts-mocha'], packages: ['mocha'], fallback: 'mocha' };

export const mocha: TestRunner<'mocha'> = {
  name: 'mocha',
  manifests: ['package.json'],
  idRoot: 'file',
  detect: (folder) => scriptCommands(folder, MOCHA),
  understands: (command) => understandsProgram(command, MOCHA),
  configuration: [/(^|\/)\.mocharc[^/]*$/, /(^|\/)mocha\.opts$/],

  async prepare(run) {
    const { reporter, hasEnded, readLines } = await signedModules(run, mochaReporter);
    return {
      command: withOptions(run.command, MOCHA.programs, {
        remove: ['--reporter', '-R', '--reporter-option', '--reporter-options', '-O'],
        flags: ['--watch', '-w'],
        add: `--reporter ${shellQuote(reporter)}`,
      }),
      environment: { CI: 'true' },
      programFolders: await binFolders(run),
      hasEnded,
      readReport: async () => parseMochaLines(await readLines(), run.shown),
    };
  },
};

const lineSchema = z.discriminatedUnion('type', [
  ...watchEvents,
  z.object({ type: z.literal('end') }),
  z.object({
    type: z.enum(['pass', 'fail', 'pending', 'suite', 'file']),
    file: z.string().optional(),
    path: z.array(z.string()).max(1_000),
    durationMs: z.number().optional(),
    message: z.string().optional(),
  }),
]);

/** A suite with a failed hook and a file that cannot be loaded are containers. Throws `ReportError`. */
export function parseMochaLines(text: string, copy: string): TestReport {
  const collector = new ResultCollector(copy);
  const events: WatchEvent[] = [];
  const failedContainers = new Set<string>();
  for (const event of reporterEvents(text, lineSchema)) {
    if (!('path' in event)) {
      events.push(event);
      continue;
    }
    const { type, file, path: names, durationMs, message } = event;
    const isContainer = type === 'suite' || type === 'file';
    const key = JSON.stringify([file, names]);
    // Several hooks of one suite may fail.
    if (isContainer && failedContainers.has(key)) continue;
    if (isContainer) failedContainers.add(key);
    collector.add({
      kind: isContainer ? 'container' : 'test',
      status: type === 'pass' ? 'passed' : type === 'pending' ? 'skipped' : 'failed',
      path: [file === undefined ? undefined : relativeFile(file, copy), ...names],
      durationMs,
      message,
    });
  }
  const report = { results: collector.results };
  checkWatch(events, report);
  return report;
}
