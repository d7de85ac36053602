import { ReportError } from './test-report.ts';
import { expectJunitFiles } from './junit-files.ts';
import type { TestRunner } from './test-runner.ts';

/**
 * Any command that writes JUnit files, which the user names. A command without them is refused, because an exit code alone proves
 * nothing.
 */
export const custom: TestRunner<'custom'> = {
  name: 'custom',
  manifests: [],
  idRoot: 'file',
  detect: async () => [],
  understands: () => false,
  configuration: [],
  isReportWritable: true,

  async prepare({ command, reports, ...run }) {
    if (reports === undefined)
      throw new ReportError(`The results of "${command}" cannot be read: name the JUnit files that it writes, such as "reports/*.xml".`);
    return { command, environment: { CI: 'true' }, readReport: await expectJunitFiles(run, [reports]) };
  },
};
