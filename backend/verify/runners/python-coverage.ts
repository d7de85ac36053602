import path from 'node:path';
import * as z from 'zod';
import type { Coverage, CoveredFunction } from './coverage.ts';
import { idOf, readReportFile } from './report-file.ts';
import type { RunToPrepare } from './test-runner.ts';

/* Which functions each test calls, and runs of some tests alone. Both serve to try the project's own code; no answer is judged by them. */

/** Where the coverage of a run is written. */
export const coverageFile = ({ report }: Pick<RunToPrepare, 'report'>): string => path.join(report, 'coverage.json');

/**
 * The Python module `conductor_coverage`. Functions count, not lines, so that Python is slowed down little: by `sys.monitoring` from 3.12 on,
 * and before that by the events of calls alone.
 */
export const pythonCoverage = (run: Pick<RunToPrepare, 'shown' | 'report' | 'only' | 'isCovered'>): string => `
__builtins__ = dict(vars(__import__('builtins')))

import ast
import json
import os
import sys
import threading

COPY = ${JSON.stringify(run.shown)}
ONLY = json.loads(${JSON.stringify(JSON.stringify(run.only ?? null))})
DESTINATION = json.loads(${JSON.stringify(JSON.stringify(run.isCovered ? coverageFile(run) : null))})
# What another process runs is not seen here.
STARTS = {'subprocess.Popen', 'os.system', 'os.exec', 'os.posix_spawn', 'os.spawn', 'os.fork', 'os.forkpty'}

# Whether a test with this key runs; None if all do.
keeps = None if ONLY is None else frozenset(ONLY).__contains__


def relative(file):
    if not os.path.isabs(file):
        return None
    file = os.path.realpath(file)
    return file[len(COPY) + 1:] if file.startswith(COPY + os.sep) else None


def functions_in(file):
    """First line, first line of the body and last line of each function. One in a single line cannot be told from what is around it."""
    try:
        with open(os.path.join(COPY, file), 'rb') as source:
            tree = ast.parse(source.read())
    except Exception:
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.body[0].lineno > node.lineno:
            first = min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])
            found.append([first, node.body[0].lineno, node.end_lineno])
    return found


class Coverage:
    def __init__(self):
        self.tests = []
        self.current = None
        self.outside = set()
        self.seen = self.outside
        self.ran = {}
        self.places = {}
        self.beyond = set()
        self.is_lost = False
        sys.addaudithook(self.started)
        self.monitoring = getattr(sys, 'monitoring', None)
        if self.monitoring:
            tool = next(tool for tool in (4, 3, 1, 2, 5, 0) if self.monitoring.get_tool(tool) is None)
            self.monitoring.use_tool_id(tool, 'conductor')
            events = self.monitoring.events
            for event in (events.PY_START, events.PY_RESUME):
                self.monitoring.register_callback(tool, event, self.entered)
            self.monitoring.set_events(tool, events.PY_START | events.PY_RESUME)
        else:
            self.trace = self.called
            threading.settrace(self.trace)
            sys.settrace(self.trace)

    def entered(self, code, offset):
        self.seen.add(code)
        return self.monitoring.DISABLE

    def called(self, frame, event, arg):
        self.seen.add(frame.f_code)

    def started(self, event, args):
        if event in STARTS:
            self.unknown()

    def unknown(self):
        if self.current is None:
            self.is_lost = True
        else:
            self.beyond.add(self.current)

    def swap(self, seen):
        """What runs from now on is added to this set. Returns the one before."""
        before, self.seen = self.seen, seen
        if self.monitoring:
            self.monitoring.restart_events()
        elif sys.gettrace() is not self.trace:
            # Another tracer took the place of this one, or Python dropped it where calls were too deep.
            self.unknown()
            if sys.gettrace() is None:
                sys.settrace(self.trace)
        return before

    def begin(self, key, root, file, names):
        self.current = len(self.tests)
        self.tests.append({'key': key, 'root': root, 'file': file, 'names': list(names)})
        self.swap(set())

    def end(self):
        if self.current is None:
            return
        for code in self.swap(self.outside):
            place = self.place_of(code)
            if place:
                self.ran.setdefault(place, []).append(self.current)
        self.current = None

    def place_of(self, code):
        if code not in self.places:
            file = relative(code.co_filename)
            self.places[code] = file and (file, code.co_firstlineno)
        return self.places[code]

    def write(self):
        # This code runs, too.
        self.seen = set()
        if self.is_lost or not self.tests:
            return
        outside = {self.place_of(code) for code in self.outside} - {None}
        files = {file for file, line in self.ran} | {file for file, line in outside}
        ran = [[file, line, tests, (file, line) in outside] for (file, line), tests in self.ran.items()]
        ran += [[file, line, [], True] for file, line in outside if (file, line) not in self.ran]
        with open(DESTINATION, 'w', encoding='utf-8') as target:
            json.dump({'tests': self.tests, 'beyond': sorted(self.beyond), 'ran': ran,
                       'functions': {file: functions_in(file) for file in sorted(files)}}, target)


def open_coverage():
    return Coverage() if DESTINATION else None
`;

const index = z.number().int().min(0);
const coverageSchema = z.object({
  tests: z.array(z.object({ key: z.string(), root: z.string().nullable(), file: z.string().nullable(), names: z.array(z.string()) })),
  beyond: z.array(index),
  ran: z.array(z.tuple([z.string(), index, z.array(index), z.boolean()])),
  functions: z.record(z.string(), z.array(z.tuple([index, index, index]))),
});
type CoveredTest = z.infer<typeof coverageSchema>['tests'][number];

/** Undefined if the run wrote none: a test process started others before any test, or all tests ran in other processes. */
export async function readPythonCoverage(
  run: Pick<RunToPrepare, 'shown' | 'report'>, pathOf: (test: CoveredTest) => readonly (string | undefined)[],
): Promise<Coverage | undefined> {
  const text = await readReportFile(coverageFile(run)).catch(() => undefined);
  if (text === undefined) return undefined;
  const { data: found } = coverageSchema.safeParse(JSON.parse(text));
  if (!found) return undefined;
  const ids = found.tests.map((test) => idOf(pathOf(test)));
  const named = (tests: readonly number[]): ReadonlySet<string> => new Set(tests.flatMap((test) => ids[test] ?? []));
  const functions = new Map<string, CoveredFunction[]>();
  for (const [file, lines] of Object.entries(found.functions))
    functions.set(file, lines.map(([first, body, last]) => {
      const inside = found.ran.filter(([place, line]) => place === file && line >= first && line <= last);
      return { body, last, tests: named(inside.flatMap(([, , tests]) => tests)), isCalledOutside: inside.some(([, , , outside]) => outside) };
    }));
  return { keys: new Map(ids.map((id, test) => [id, found.tests[test]?.key ?? ''])), beyond: named(found.beyond), functions };
}
