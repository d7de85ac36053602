import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { guardOfTests, withNodeOptions } from './javascript-guard.ts';
import { binFolders, scriptCommands, understandsProgram, withOptions, type JavaScriptRunner } from './javascript-project.ts';
import { javascriptWatch } from './javascript-watch.ts';
import { parseJestReport } from './jest-report.ts';
import { checkWatch } from './python-report.ts';
import { readReportFile } from './report-file.ts';
import { shellQuote } from '../sandbox/sandbox.ts';
import { watchTestFiles } from './test-files.ts';
import { typeCheckers } from './type-checker.ts';
import type { TestRunner } from './test-runner.ts';

const VITEST: JavaScriptRunner = { programs: ['vitest'], packages: ['vitest'], fallback: 'vitest run' };

/**
 * vitest, by its own `json` reporter: that has one form since 0.30, where the interface of custom reporters has changed twice, and
 * it runs in vitest's main process, where the tests are not and which tells them nothing of it.
 */
export const vitest: TestRunner<'vitest'> = {
  name: 'vitest',
  manifests: ['package.json'],
  idRoot: 'file',
  keepsOneReport: true,
  detect: (folder) => scriptCommands(folder, VITEST),
  understands: (command) => understandsProgram(command, VITEST),
  configuration: [/(^|\/)vite[^/]*\.(config|workspace|projects|setup)\.[^/]+$/],

  async prepare(run) {
    const destination = path.join(run.report, `${randomUUID()}.json`);
    const watch = path.join(run.tools, 'conductor-watch.cjs');
    await writeFile(watch, javascriptWatch({ copy: run.copy }));
    const guard = await guardOfTests(run, watch);
    const checkTestFiles = await watchTestFiles(run.copy);
    const command = withOptions(run.command, VITEST.programs, {
      remove: ['--reporter', '--outputFile', '--bail'],
      flags: ['--watch', '-w', '--ui', '--update', '-u', '--passWithNoTests', '--coverage'],
      // All tests count, not only those up to the first failure.
      add: `--bail=0 --coverage.enabled=false --reporter=json --outputFile=${shellQuote(destination)}`,
    });
    const prepared = withNodeOptions(command, guard.option);
    return {
      command: prepared.command,
      // With it, vitest neither watches nor writes the snapshots that a test lacks.
      environment: { ...prepared.environment, CI: 'true' },
      programFolders: [await typeCheckers(run.tools), ...(await binFolders(run))],
      readReport: async () => {
        await checkTestFiles();
        const report = parseJestReport(await readReportFile(destination), run.copy);
        checkWatch(await guard.read(), report);
        return report;
      },
    };
  },
};
