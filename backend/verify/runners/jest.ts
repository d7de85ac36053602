import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { shellQuote } from '../sandbox/sandbox.ts';
import { binFolders, scriptCommands, understandsProgram, withOptions, type JavaScriptRunner } from './javascript-project.ts';
import { parseJestReport } from './jest-report.ts';
import { readReportFile } from './report-file.ts';
import { watchTestFiles } from './test-files.ts';
import type { TestRunner } from './test-runner.ts';

/** `react-scripts test` passes its options to jest. */
const JEST: JavaScriptRunner = { programs: ['jest', 'react-scripts'], packages: ['jest', 'react-scripts'], fallback: 'jest' };

/** jest, read from its own JSON. Its main process writes that; tests run in other contexts or processes. */
export const jest: TestRunner<'jest'> = {
  name: 'jest',
  manifests: ['package.json'],
  idRoot: 'file',
  keepsOneReport: true,
  detect: (folder) => scriptCommands(folder, JEST),
  understands: (command) => understandsProgram(command, JEST),
  configuration: [/(^|\/)(jest|babel)[^/]*\.(config|setup)[^/]*$/, /(^|\/)jest[^/]*\.json$/, /(^|\/)\.(babel|swc)rc[^/]*$/],

  async prepare(run) {
    const destination = path.join(run.report, `${randomUUID()}.json`);
    const checkTestFiles = await watchTestFiles(run.copy);
    return {
      command: withOptions(run.command, JEST.programs, {
        remove: ['--outputFile'],
        flags: ['--json', '--watch', '--watchAll', '--updateSnapshot', '-u', '--passWithNoTests', '--coverage', '--bail', '-b'],
        // All tests must run, not only those up to the first failure. watchman needs a Unix socket, which the sandbox blocks.
        add: `--json --outputFile=${shellQuote(destination)} --ci --no-bail --coverage=false --no-watchman`,
      }),
      environment: { CI: 'true' },
      programFolders: await binFolders(run),
      readReport: async () => {
        await checkTestFiles();
        return parseJestReport(await readReportFile(destination), run.copy);
      },
    };
  },
};
