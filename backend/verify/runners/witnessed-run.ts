import { randomUUID } from 'node:crypto';
import path from 'node:path';
import * as z from 'zod';
import { nodeOption } from './javascript-guard.ts';
import { reporterEvents } from './report-file.ts';
import { signedModules } from './signed-modules.ts';
import { NoReportError, type TestReport } from './test-report.ts';
import type { PreparedRun, RunToPrepare } from './test-runner.ts';
import { signsFile, witnessGuard } from './witness-guard.ts';
import { checkWitnesses, witnessEvents, type WitnessEvent } from './witnesses.ts';

/** A run of a runner whose main process writes its report to a file, and whose tests run in workers. */
export interface WitnessedRun {
  /** Where the runner is told to write its report, absolute. Its main process signs it instead. */
  readonly destination: string;
  /** For NODE_OPTIONS. */
  readonly option: string;
  /** The module of `javascript-watch.ts`. */
  readonly watch: string;
  readonly hasEnded: NonNullable<PreparedRun['hasEnded']>;
  /** The report as `parse` reads it, compared with what the workers saw. Throws `ReportError`. */
  readReport(parse: (text: string) => TestReport): Promise<TestReport>;
}

/** `isMain`: what the main process is called; `alsoMain`, `witness`: see `witnessGuard`. */
export async function witnessedRun(
  run: Pick<RunToPrepare, 'copy' | 'shown' | 'report' | 'tools'>,
  { isMain, witness, alsoMain }: { readonly isMain: RegExp; readonly witness: string; readonly alsoMain?: string },
): Promise<WitnessedRun> {
  const destination = path.join(run.report, `${randomUUID()}.json`);
  let option = '';
  const signs = alsoMain === undefined ? signsFile(destination) : `(given) => {\n  (${signsFile(destination)})(given);\n  (${alsoMain})();\n}`;
  const { watch, hasEnded, readLines } = await signedModules(run, (watchFile, itself) => {
    option = `--require=${nodeOption(itself)}`;
    return witnessGuard({ watch: watchFile, option, isMain, signs, witness });
  });
  return {
    destination,
    option,
    watch,
    hasEnded,
    readReport: async (parse) => {
      const events: WitnessEvent[] = [];
      const texts: string[] = [];
      for (const event of reporterEvents(await readLines(), lineSchema)) {
        if (event.type === 'report') texts.push(event.text);
        else if (event.type !== 'start') events.push(event);
      }
      // One that is written again is the whole one.
      const last = texts.at(-1);
      if (last === undefined) throw new NoReportError();
      const report = parse(last);
      checkWitnesses(events, report, run.shown);
      return report;
    },
  };
}

const lineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start') }),
  z.object({ type: z.literal('end') }),
  z.object({ type: z.literal('report'), text: z.string() }),
  ...witnessEvents,
]);
