import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { javascriptWatch } from './javascript-watch.ts';
import { signedReport } from './signed-report.ts';
import { watchTestFiles } from './test-files.ts';
import type { PreparedRun, RunToPrepare } from './test-runner.ts';

/** Modules of ours in the process of a JavaScript runner: the watch, and a reporter whose lines are signed. */
export interface SignedModules {
  /** The files of the reporter and of the watch, absolute. */
  readonly reporter: string;
  readonly watch: string;
  readonly hasEnded: NonNullable<PreparedRun['hasEnded']>;
  /** The events of the reporter, one per line. Throws `ReportError`, also if files of tests are others now. */
  readLines(): Promise<string>;
}

/** Writes the modules for one run. @param textOf the reporter, which loads the watch (a file) and may know its own file; both absolute */
export async function signedModules(run: Pick<RunToPrepare, 'copy' | 'shown' | 'report' | 'tools'>, textOf: (watch: string, itself: string) => string): Promise<SignedModules> {
  const signed = await signedReport(run.report);
  const [watch, reporter] = [path.join(run.tools, 'conductor-watch.cjs'), path.join(run.tools, 'reporter.cjs')];
  await writeFile(watch, javascriptWatch({ copy: run.shown, signed }));
  await writeFile(reporter, textOf(watch, reporter));
  const checkTestFiles = await watchTestFiles(run.copy);
  return {
    reporter,
    watch,
    hasEnded: signed.hasEnded,
    readLines: async () => {
      await checkTestFiles();
      return await signed.read();
    },
  };
}
