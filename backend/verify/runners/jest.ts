import { shellQuote } from '../sandbox/sandbox.ts';
import { withNodeOptions } from './javascript-guard.ts';
import { binFolders, NX_PROJECT, scriptCommands, understandsProgram, withOptions, type JavaScriptRunner } from './javascript-project.ts';
import { parseJestReport } from './jest-report.ts';
import { JEST_IN_WORKERS, JEST_WITNESS } from './jest-witness.ts';
import type { TestRunner } from './test-runner.ts';
import { witnessedRun } from './witnessed-run.ts';

/** `react-scripts test` passes its options to jest. */
const JEST: JavaScriptRunner = {
  programs: ['jest', 'react-scripts'],
  packages: ['jest', 'react-scripts'],
  fallback: 'jest',
  configuredBy: { name: /^jest\.config\.\w+$/, text: /\S/ },
};

const MAIN = /[\\/](?:jest(?:-cli)?(?:\.[cm]?js)?(?:[\\/]|$)|react-scripts[\\/]scripts[\\/]test)/;

/** jest, read from its own JSON. Its main process signs that; tests run in workers, which are witnesses (`witness-guard.ts`). */
export const jest: TestRunner<'jest'> = {
  name: 'jest',
  manifests: ['package.json', NX_PROJECT],
  idRoot: 'file',
  keepsOneReport: true,
  detect: (folder) => scriptCommands(folder, JEST),
  understands: (command) => understandsProgram(command, JEST),
  configuration: [/(^|\/)(jest|babel)[^/]*\.(config|setup)[^/]*$/, /(^|\/)jest[^/]*\.json$/, /(^|\/)\.(babel|swc)rc[^/]*$/],

  async prepare(run) {
    const { destination, option, hasEnded, readReport } = await witnessedRun(run, { isMain: MAIN, witness: JEST_WITNESS, alsoMain: JEST_IN_WORKERS });
    const command = withOptions(run.command, JEST.programs, {
      remove: ['--outputFile'],
      flags: ['--json', '--watch', '--watchAll', '--updateSnapshot', '-u', '--passWithNoTests', '--coverage', '--bail', '-b', '--detectOpenHandles'],
      // All tests must run, not only those up to the first failure. watchman needs a Unix socket, which the sandbox blocks.
      add: `--json --outputFile=${shellQuote(destination)} --ci --no-bail --coverage=false --no-watchman`,
    });
    const prepared = withNodeOptions(command, option);
    return {
      command: prepared.command,
      environment: { ...prepared.environment, CI: 'true' },
      programFolders: await binFolders(run),
      hasEnded,
      readReport: () => readReport((text) => parseJestReport(text, run.shown)),
    };
  },
};
