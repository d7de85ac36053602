import path from 'node:path';
import * as z from 'zod';
import { djangoCommand, djangoEdits } from './django.ts';
import { shellWord } from '../sandbox/shell-quote.ts';
import type { TestReport } from './test-report.ts';
import { pythonCoverage, readPythonCoverage } from './python-coverage.ts';
import { pythonEnvironment } from './python-environment.ts';
import { pythonLines } from './python-lines.ts';
import { checkWatch, importsIn, signedReport, watchEvents, type WatchEvent } from './signed-report.ts';
import { pythonWatch } from './python-watch.ts';
import type { ProjectFolder } from './project-folder.ts';
import { PYTHON_MANIFESTS, PYTHON_TEST_FILE } from './pytest.ts';
import { relativeFile, reporterEvents, ResultCollector } from './report-file.ts';
import { programUses, simpleCommands, withEdits, type Word } from './shell-words.ts';
import type { TestRunner } from './test-runner.ts';
import { UNITTEST_MAIN } from './unittest-main.ts';

const IMPORTS_UNITTEST = /^\s*(?:import unittest|from unittest import|from unittest\.)/m;

/** Python's own unittest, also as Django starts it. */
export const unittest: TestRunner<'unittest'> = {
  name: 'unittest',
  manifests: [...PYTHON_MANIFESTS, 'manage.py'],
  idRoot: 'file',
  tellsCoverage: true,

  async detect(folder) {
    const django = await djangoCommand(folder);
    if (django !== undefined) return [django];
    const starts = new Set<string>();
    for await (const file of folder.files(PYTHON_TEST_FILE, { text: IMPORTS_UNITTEST, manifests: PYTHON_MANIFESTS })) {
      starts.add(await discoveryStart(folder, file));
      if (starts.size >= MAX_STARTS) break;
    }
    if (starts.size === 0) return [];
    const named = [...starts].filter((start) => start !== '');
    // What has the usual name comes before tests in the project's own folder, and that before any other.
    const usual = ['tests', 'test'].filter((start) => starts.has(start));
    const order = new Set(starts.has('') ? [...usual, '', ...named] : [...usual, ...named, '']);
    return [...order].map((start) => (start === '' ? 'python3 -m unittest' : `python3 -m unittest discover -s ${shellWord(start)}`));
  },

  understands: (command) => moduleWords(command).length > 0 || djangoEdits(command).length > 0,
  configuration: [],

  async prepare(run) {
    const report = await signedReport(run.report);
    const command = withEdits(run.command, [...moduleWords(run.command).map((word) => ({ ...word, text: 'conductor_unittest' })), ...djangoEdits(run.command)]);
    const { withPython, ...prepared } = await pythonEnvironment({ ...run, command }, {
      modules: { conductor_report: pythonLines(report), conductor_watch: pythonWatch(run.shown), conductor_coverage: pythonCoverage(run), conductor_unittest: UNITTEST_MAIN },
    });
    return {
      ...prepared,
      hasEnded: report.hasEnded,
      readReport: () => withPython(async () => parseUnittestLines(await report.read(), run.shown)),
      readCoverage: () => readPythonCoverage(run, ({ file, names }) => [file === null ? undefined : relativeFile(file, run.shown), ...names]),
    };
  },
};

/** More folders are not offered to choose from. */
const MAX_STARTS = 3;

/** The folder from which discovery reaches a file; empty for the project's own. Discovery goes into packages only, so one below a folder that is none has to be named. */
async function discoveryStart(folder: ProjectFolder, file: string): Promise<string> {
  let start = path.posix.dirname(file);
  while (start !== '.' && (await folder.text(`${start}/__init__.py`)) !== undefined) start = path.posix.dirname(start);
  return start === '.' ? '' : start;
}

/** The `unittest` of every `python -m unittest`. */
function moduleWords(command: string): readonly Word[] {
  if (programUses(command, ['unittest']).length === 0) return [];
  return simpleCommands(command).flatMap(({ words }) => {
    const index = words.findIndex(({ text }, at) => text === 'unittest' && words[at - 1]?.text === '-m');
    const word = words[index];
    return word === undefined ? [] : [word];
  });
}

const lineSchema = z.discriminatedUnion('type', [
  ...watchEvents,
  z.object({ type: z.literal('end') }),
  z.object({
    type: z.literal('result'),
    kind: z.enum(['test', 'container']),
    status: z.enum(['passed', 'failed', 'skipped']),
    file: z.string().nullable(),
    names: z.array(z.string()).max(100),
    message: z.string().nullable(),
    durationMs: z.number(),
  }),
]);
type Line = Extract<z.infer<typeof lineSchema>, { type: 'result' }>;

/**
 * A test is reported once, and again for each failed subtest and a failed `tearDown`. Then it counts as failed. An expected failure counts as
 * skipped; see `pytest.ts`. Throws `ReportError`.
 */
export function parseUnittestLines(text: string, copy: string): TestReport {
  const collector = new ResultCollector(copy);
  const seen = new Map<string, Line>();
  const watched: WatchEvent[] = [];
  for (const data of reporterEvents(text, lineSchema)) {
    if (data.type !== 'result') {
      watched.push(data);
      continue;
    }
    const key = JSON.stringify([data.file, data.names]);
    const known = seen.get(key);
    if (known === undefined || (data.status === 'failed' && known.status !== 'failed')) seen.set(key, data);
  }
  for (const { kind, status, file, names, message, durationMs } of seen.values()) {
    const parts = [file === null ? undefined : relativeFile(file, copy), ...names];
    collector.add({ kind, status, path: parts, message: message ?? undefined, durationMs });
  }
  checkWatch(watched, collector);
  return { results: collector.results, ...importsIn(watched) };
}
