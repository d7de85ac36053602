import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { shellQuote } from '../sandbox/shell-quote.ts';
import { binFolders, scriptCommands, understandsProgram, withOptions, type JavaScriptRunner } from './javascript-project.ts';
import { parseNestedTap, type TapTest } from './nested-tap.ts';
import { readReportFile, relativeFile, ResultCollector } from './report-file.ts';
import type { TestReport } from './test-report.ts';
import { type TestRunner, WRITABLE_REPORT } from './test-runner.ts';

const TAP: JavaScriptRunner = { programs: ['tap'], packages: ['tap'], fallback: 'tap' };

/** node-tap, read from its TAP. Each file of tests is a process that prints its part of it, as can the code under test. */
export const tap: TestRunner<'tap'> = {
  name: 'tap',
  manifests: ['package.json'],
  idRoot: 'file',
  detect: (folder) => scriptCommands(folder, TAP),
  understands: (command) => understandsProgram(command, TAP),
  configuration: [/(^|\/)\.taprc$/],
  provesAtMost: WRITABLE_REPORT,
  keepsOneReport: true,

  async prepare(run) {
    const file = path.join(run.report, 'report.tap');
    const programFolders = await binFolders(run);
    const noCoverage = (await hasCoverageOfNyc(programFolders)) ? '--no-coverage' : '--disable-coverage';
    return {
      command: withOptions(run.command, TAP.programs, {
        remove: ['--reporter', '-R', '--output-file', '-o', '--bail', '-b'],
        flags: ['--watch', '-w', '--snapshot', '-S', '--changed', '-n'],
        add: `--reporter=tap --output-file=${shellQuote(file)} --no-bail ${noCoverage}`,
      }),
      environment: { CI: 'true' },
      programFolders,
      readReport: async () => reportOfTap(await readReportFile(file), run.shown),
    };
  },
};

/** Up to version 16, node-tap has nyc measure coverage, and calls the option for that by another name. */
async function hasCoverageOfNyc(programFolders: readonly string[]): Promise<boolean> {
  for (const folder of programFolders) {
    const text = await readFile(path.join(path.dirname(folder), 'tap', 'package.json'), 'utf8').catch(() => '');
    const [, major] = /"version"\s*:\s*"(\d+)\./.exec(text) ?? [];
    if (major !== undefined) return Number(major) < 18;
  }
  return false;
}

/** Assertions stand for themselves where they are in no test of the file. Throws `ReportError`. */
export function reportOfTap(text: string, copy: string): TestReport {
  const collector = new ResultCollector(copy);
  const add = ({ title, status, message, isSubtest, below }: TapTest, above: readonly string[]): void => {
    const names = [...above, above.length === 0 ? relativeFile(title, copy) : title];
    const tests = below.filter((test) => test.isSubtest || above.length === 0);
    for (const test of tests) add(test, names);
    const said = message ?? below.find((point) => point.status === 'failed')?.message;
    const isContainer = above.length === 0 ? isSubtest : tests.length > 0;
    if (!isContainer) collector.add({ kind: 'test', status, path: names, message: said });
    // One of the tests in it says why, or the file ended by itself.
    else if (status === 'failed' && !tests.some((test) => test.status === 'failed')) collector.add({ kind: 'container', status, path: names, message: said });
  };
  for (const point of parseNestedTap(text)) add(point, []);
  return { results: collector.results };
}
