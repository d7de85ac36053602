import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { shellQuote } from '../sandbox.ts';
import type { TestReport } from '../test-report.ts';
import { binFolders, scriptCommands, understandsProgram, withOptions, type JavaScriptRunner } from './javascript-project.ts';
import { mochaReporter } from './mocha-reporter.ts';
import { readReportFile, relativeFile, reporterEvents, ResultCollector } from './report-file.ts';
import type { TestRunner } from './test-runner.ts';

const MOCHA: JavaScriptRunner = { programs: ['mocha', '_mocha'], packages: ['mocha'], fallback: 'mocha' };

export const mocha: TestRunner = {
  name: 'mocha',
  detect: (folder) => scriptCommands(folder, MOCHA),
  understands: (command) => understandsProgram(command, MOCHA),
  configuration: [/(^|\/)\.mocharc[^/]*$/, /(^|\/)mocha\.opts$/],

  async prepare(run) {
    const reporter = path.join(run.tools, 'reporter.cjs');
    const destination = path.join(run.report, `${randomUUID()}.jsonl`);
    await writeFile(reporter, mochaReporter(destination));
    return {
      command: withOptions(run.command, MOCHA.programs, {
        remove: ['--reporter', '-R', '--reporter-option', '--reporter-options', '-O'],
        flags: ['--watch', '-w'],
        add: `--reporter ${shellQuote(reporter)}`,
      }),
      environment: { CI: 'true' },
      programFolders: binFolders(run),
      readReport: async () => parseMochaLines(await readReportFile(destination), run.copy),
    };
  },
};

const lineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('end') }),
  z.object({
    type: z.enum(['pass', 'fail', 'pending', 'hook']),
    file: z.string().optional(),
    path: z.array(z.string()).max(1_000),
    durationMs: z.number().optional(),
    message: z.string().optional(),
  }),
]);

/** Throws `ReportError`. */
export function parseMochaLines(text: string, copy: string): TestReport {
  const collector = new ResultCollector(copy);
  for (const { type, file, path: names, durationMs, message } of reporterEvents(text, lineSchema)) {
    collector.add({
      kind: type === 'hook' ? 'container' : 'test',
      status: type === 'pass' ? 'passed' : type === 'pending' ? 'skipped' : 'failed',
      path: [file === undefined ? undefined : relativeFile(file, copy), ...names],
      durationMs,
      message,
    });
  }
  return { results: collector.results };
}
