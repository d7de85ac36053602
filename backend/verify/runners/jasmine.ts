import { shellQuote } from '../sandbox/shell-quote.ts';
import { jasmineReporter } from './jasmine-reporter.ts';
import { binFolders, scriptCommands, understandsProgram, withOptions, type JavaScriptRunner } from './javascript-project.ts';
import { parseMochaLines } from './mocha.ts';
import { signedModules } from './signed-modules.ts';
import type { TestRunner } from './test-runner.ts';

/** jasmine-ts hands on the options that it does not know itself. */
const JASMINE: JavaScriptRunner = { programs: ['jasmine', 'jasmine-ts'], packages: ['jasmine', 'jasmine-ts'], fallback: 'jasmine' };

/** Jasmine on Node, by a reporter in its process that writes the same lines as the one for mocha. Tests in a browser, as by Karma, are not run. */
export const jasmine: TestRunner<'jasmine'> = {
  name: 'jasmine',
  manifests: ['package.json'],
  idRoot: 'file',
  detect: (folder) => scriptCommands(folder, JASMINE),
  understands: (command) => understandsProgram(command, JASMINE),
  configuration: [/(^|\/)jasmine(\.[^/]+)?\.(json|[cm]?js)$/],

  async prepare(run) {
    const { reporter, hasEnded, readLines } = await signedModules(run, jasmineReporter);
    return {
      command: withOptions(run.command, JASMINE.programs, {
        remove: ['--reporter', '--parallel', '--seed'],
        flags: ['--fail-fast', '--stop-on-failure'],
        // Tests run in another order each time by default; what differs between two runs would be chance.
        add: `--seed=1 --reporter=${shellQuote(reporter)}`,
      }),
      environment: { CI: 'true' },
      programFolders: await binFolders(run),
      hasEnded,
      readReport: async () => parseMochaLines(await readLines(), run.shown),
    };
  },
};
