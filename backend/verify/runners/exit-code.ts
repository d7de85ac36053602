import { ResultCollector } from './report-file.ts';
import { surroundingsOf } from './surroundings.ts';
import { ReportError } from './test-report.ts';
import type { TestRunner } from './test-runner.ts';

/** What a shell exits with where it cannot start a program, or does not find it. */
const NOT_STARTED = new Set([126, 127]);

/** What npm, pnpm, Yarn, Bun and make say of a script or target that there is not; they exit with 1 or 2. */
const NO_SCRIPT = /Missing script: |Couldn't find a script named |Script not found "|^error Command "[^"]+" not found|\*\*\* No rule to make target '[^']+'\.\s+Stop/m;

/**
 * Any other command, such as `make test`. It tells of no single test, so the command itself is the test: it passes by exiting with 0, and what it
 * printed last is its message.
 */
export const exitCode: TestRunner<'exit-code'> = {
  name: 'exit-code',
  manifests: [],
  idRoot: 'no source',
  detect: async () => [],
  understands: () => false,
  configuration: [],
  provesAtMost: 'the command tells by its exit code alone. If it can write JUnit files, name them',

  prepare: async (run) => ({
    ...(await surroundingsOf(run)),
    readReport: async ({ exitCode, said }) => {
      const { command, shown } = run;
      if (exitCode !== null && (NOT_STARTED.has(exitCode) || (exitCode !== 0 && NO_SCRIPT.test(said)))) throw new ReportError(`"${command}" could not be started.`);
      const collector = new ResultCollector(shown);
      collector.add({ kind: 'test', status: exitCode === 0 ? 'passed' : 'failed', path: [command], ...(exitCode !== 0 && { message: said.trim() }) });
      return { results: collector.results };
    },
  }),
};
