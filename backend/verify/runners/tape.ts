import * as z from 'zod';
import { shellQuote } from '../sandbox/shell-quote.ts';
import { binFolders, scriptCommands, understandsProgram, withOptions, type JavaScriptRunner } from './javascript-project.ts';
import { checkWatch, watchEvents, type WatchEvent } from './signed-report.ts';
import { expandScripts, scriptCommand, testScripts } from './package-scripts.ts';
import { ProjectFolder } from './project-folder.ts';
import { relativeFile, reporterEvents, ResultCollector } from './report-file.ts';
import { simpleCommands, withEdits, type ProgramUse } from './shell-words.ts';
import { startsOf } from './started-file.ts';
import { tapeReporter } from './tape-reporter.ts';
import { signedModules } from './signed-modules.ts';
import type { TestReport } from './test-report.ts';
import type { RunToPrepare, TestRunner } from './test-runner.ts';

const TAPE: JavaScriptRunner = { programs: ['tape'], packages: ['tape'], fallback: "tape 'test/**/*.js'" };

export const tape: TestRunner<'tape'> = {
  name: 'tape',
  manifests: ['package.json'],
  idRoot: 'file',
  async detect(folder) {
    const commands = [...(await scriptCommands(folder, TAPE))];
    const found = await folder.packageFile();
    for (const script of found ? testScripts(found) : []) {
      const command = scriptCommand(script);
      const expanded = await expandScripts(command, folder.folder);
      if (!understandsProgram(expanded, TAPE) && (await startsOfTape(expanded, folder)).length > 0) commands.push(simpleCommands(expanded).length === 1 ? expanded : command);
    }
    return commands;
  },
  startsOf: (command, folder) => startsOfTape(command, folder),
  understands: (command) => understandsProgram(command, TAPE),
  configuration: [],

  async prepare(run) {
    const { reporter, hasEnded, readLines } = await signedModules(run, tapeReporter);
    return {
      command: await withReporter(run, `-r ${shellQuote(reporter)}`),
      environment: { CI: 'true' },
      programFolders: await binFolders(run),
      hasEnded,
      readReport: async () => parseTapeLines(await readLines(), run.shown),
    };
  },
};

const LOADS_TAPE = /(?:\brequire\(\s*|\bfrom\s*|^import\s*|\bimport\(\s*)['"]tape['"]/m;

/** `node test`, of which the file loads tape: the tests run when it is started. */
const startsOfTape = (command: string, folder: ProjectFolder): Promise<readonly ProgramUse[]> => startsOf(LOADS_TAPE, command, folder);

/** tape and Node take the same option, Node before its file. */
async function withReporter({ command, copy }: RunToPrepare, option: string): Promise<string> {
  if (understandsProgram(command, TAPE)) return withOptions(command, TAPE.programs, { remove: [], add: option });
  const starts = await startsOfTape(command, new ProjectFolder(copy));
  return withEdits(command, starts.map(({ program: { end } }) => ({ start: end, end, text: ` ${option}` })));
}

const lineSchema = z.discriminatedUnion('type', [
  ...watchEvents,
  z.object({ type: z.literal('end') }),
  z.object({
    /** A suite has subtests and asserts nothing itself; a late failure is one after the end of its test. */
    type: z.enum(['test', 'suite', 'late']),
    file: z.string().optional(),
    path: z.array(z.string()).max(1_000),
    status: z.enum(['passed', 'failed', 'skipped']),
    message: z.string().optional(),
    durationMs: z.number().optional(),
  }),
]);

/** Throws `ReportError`. */
export function parseTapeLines(text: string, copy: string): TestReport {
  const collector = new ResultCollector(copy);
  const events: WatchEvent[] = [];
  for (const event of reporterEvents(text, lineSchema)) {
    if (!('path' in event)) {
      events.push(event);
      continue;
    }
    const { type, file, path: names, status, durationMs, message } = event;
    collector.add({
      kind: type === 'suite' ? 'container' : 'test',
      status,
      path: [file === undefined ? undefined : relativeFile(file, copy), ...names],
      durationMs,
      message,
    });
  }
  const report = { results: collector.results };
  checkWatch(events, report);
  return report;
}
