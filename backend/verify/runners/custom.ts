import { ReportError } from './test-report.ts';
import { expectJunitFiles } from './junit-files.ts';
import { surroundingsOf } from './surroundings.ts';
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

  async prepare({ reports, ...run }) {
    if (reports === undefined)
      throw new ReportError(`The results of "${run.command}" cannot be read: name the JUnit files that it writes, such as "reports/*.xml".`);
    return { ...(await surroundingsOf(run)), readReport: await expectJunitFiles(run, [reports]) };
  },
};
