import { guardOfTests, withNodeOptions } from './javascript-guard.ts';
import { binFolders, NX_PROJECT, scriptCommands, understandsProgram, withOptions, type JavaScriptRunner } from './javascript-project.ts';
import { parseJestReport } from './jest-report.ts';
import { checkWatch } from './signed-report.ts';
import { shellQuote } from '../sandbox/sandbox.ts';
import { TYPE_CHECKER } from './type-checker.ts';
import type { TestRunner } from './test-runner.ts';
import { VITEST_WITNESS } from './vitest-witness.ts';
import { witnessedRun } from './witnessed-run.ts';

const VITEST: JavaScriptRunner = {
  programs: ['vitest'],
  packages: ['vitest'],
  fallback: 'vitest run',
  configuredBy: { name: /^vite(?:st)?\.config\.\w+$/, text: /vitest|\btest\s*:/ },
};

const MAIN = /[\\/]vitest(?:\.[cm]?js)?(?:[\\/]|$)/;

/**
 * vitest, by its own `json` reporter: that has one form since 0.30, where the interface of custom reporters has changed twice, and
 * it runs in vitest's main process, where the tests are not and which tells them nothing of it. That signs it, and the workers of the tests
 * are witnesses (`witness-guard.ts`).
 */
export const vitest: TestRunner<'vitest'> = {
  name: 'vitest',
  manifests: ['package.json', NX_PROJECT],
  idRoot: 'file',
  keepsOneReport: true,
  detect: (folder) => scriptCommands(folder, VITEST),
  understands: (command) => understandsProgram(command, VITEST),
  configuration: [/(^|\/)vite[^/]*\.(config|workspace|projects|setup)\.[^/]+$/],

  async prepare(run) {
    const { destination, option, watch, hasEnded, readReport } = await witnessedRun(run, { isMain: MAIN, witness: VITEST_WITNESS });
    const guard = await guardOfTests(run, watch, TYPE_CHECKER);
    const command = withOptions(run.command, VITEST.programs, {
      remove: ['--reporter', '--outputFile', '--bail'],
      flags: ['--watch', '-w', '--ui', '--update', '-u', '--passWithNoTests', '--coverage'],
      // All tests count, not only those up to the first failure.
      add: `--bail=0 --coverage.enabled=false --reporter=json --outputFile=${shellQuote(destination)}`,
    });
    const prepared = withNodeOptions(command, `${option} ${guard.option}`);
    return {
      command: prepared.command,
      // With it, vitest neither watches nor writes the snapshots that a test lacks.
      environment: { ...prepared.environment, CI: 'true' },
      programFolders: await binFolders(run),
      hasEnded,
      readReport: async () => {
        const report = await readReport((text) => parseJestReport(text, run.shown));
        checkWatch(await guard.read(), report);
        return report;
      },
    };
  },
};
