import { binFolders } from './javascript-project.ts';
import { ReportError } from './test-report.ts';
import { expectJunitFiles } from './junit-files.ts';
import { type TestRunner, WRITABLE_REPORT } from './test-runner.ts';

/**
 * Any command that writes JUnit files, which the user names.
 */
export const custom: TestRunner<'custom'> = {
  name: 'custom',
  manifests: [],
  idRoot: 'file',
  detect: async () => [],
  understands: () => false,
  configuration: [],
  provesAtMost: WRITABLE_REPORT,

  async prepare({ command, reports, ...run }) {
    if (reports === undefined)
      throw new ReportError(`The results of "${command}" cannot be read: name the JUnit files that it writes, such as "reports/*.xml".`);
    return {
      command,
      environment: { CI: 'true' },
      // The text of a script of `package.json` runs without the package manager that would find them.
      programFolders: await binFolders({ command, copy: run.copy }),
      readReport: await expectJunitFiles(run, [reports]),
    };
  },
};
