import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { binFolders, scriptCommands, understandsProgram, withOptions, type JavaScriptRunner } from './javascript-project.ts';
import { parseJestReport } from './jest-report.ts';
import { readReportFile } from './report-file.ts';
import { shellQuote } from '../sandbox.ts';
import type { TestRunner } from './test-runner.ts';

const VITEST: JavaScriptRunner = { programs: ['vitest'], packages: ['vitest'], fallback: 'vitest run' };

/**
 * vitest, by its own `json` reporter: that has one form since 0.30, where the interface of custom reporters has changed twice, and
 * it runs in vitest's main process, where the tests are not and which tells them nothing of it.
 */
export const vitest: TestRunner = {
  name: 'vitest',
  detect: (folder) => scriptCommands(folder, VITEST),
  understands: (command) => understandsProgram(command, VITEST),
  configuration: [/(^|\/)vite[^/]*\.(config|workspace|projects|setup)\.[^/]+$/],

  async prepare(run) {
    const destination = path.join(run.report, `${randomUUID()}.json`);
    return {
      command: withOptions(run.command, VITEST.programs, {
        remove: ['--reporter', '--outputFile'],
        flags: ['--watch', '-w', '--ui', '--update', '-u', '--passWithNoTests', '--coverage'],
        add: `--reporter=json --outputFile=${shellQuote(destination)}`,
      }),
      // With it, vitest neither watches nor writes the snapshots that a test lacks.
      environment: { CI: 'true' },
      programFolders: binFolders(run),
      readReport: async () => parseJestReport(await readReportFile(destination), run.copy),
    };
  },
};
