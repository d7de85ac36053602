import { randomUUID } from 'node:crypto';
import path from 'node:path';
import * as z from 'zod';
import type { TestReport } from './test-report.ts';
import type { ProjectFolder } from './project-folder.ts';
import { pythonEnvironment } from './python-environment.ts';
import { pythonCoverage, readPythonCoverage } from './python-coverage.ts';
import { PYTEST_PLUGIN } from './pytest-plugin.ts';
import { pythonLines } from './python-lines.ts';
import { checkWatch, importsIn, signedReport, watchEvents, type WatchEvent } from './signed-report.ts';
import { pythonWatch } from './python-watch.ts';
import { relativeFile, reporterEvents, ResultCollector } from './report-file.ts';
import { programUses } from './shell-words.ts';
import type { TestRunner } from './test-runner.ts';

const REQUIREMENTS = [
  ...['requirements.txt', 'requirements-dev.txt', 'requirements_dev.txt', 'requirements-test.txt', 'requirements/test.txt'],
  ...['dev-requirements.txt', 'test-requirements.txt', 'requirements/dev.txt', 'Pipfile'],
];
export const PYTHON_MANIFESTS = ['pyproject.toml', 'setup.py', 'setup.cfg', 'pytest.ini', 'tox.ini'];
export const PYTHON_TEST_FILE = /(^|\/)(test_[^/]*|[^/]*_test)\.py$/;

export const pytest: TestRunner<'pytest'> = {
  name: 'pytest',
  manifests: PYTHON_MANIFESTS,
  idRoot: 'file',
  tellsCoverage: true,
  detect: async (folder) => ((await usesPytest(folder)) ? ['python3 -m pytest'] : []),
  understands: (command) => programUses(command, ['pytest', 'py.test']).length > 0,
  configuration: [/(^|\/)\.?(pytest\.(ini|toml)|tox\.ini|conftest\.py|setup\.cfg|pyproject\.toml|\.coveragerc)$/],

  async prepare(run) {
    const report = await signedReport(run.report);
    // pytest searches plugins in the copy first, so a patch must not be able to guess the name.
    const plugin = `conductor_${randomUUID().replaceAll('-', '')}`;
    const { withPython, ...prepared } = await pythonEnvironment(run, {
      modules: { conductor_report: pythonLines(report), conductor_watch: pythonWatch(run.shown), conductor_coverage: pythonCoverage(run), [plugin]: PYTEST_PLUGIN },
      pytestOptions: `-p ${plugin}`,
    });
    return {
      ...prepared,
      hasEnded: report.hasEnded,
      readReport: () => withPython(async () => parsePytestLines(await report.read(), run.shown)),
      readCoverage: () => readPythonCoverage(run, ({ root, file }) => pathOf(root ?? '', file ?? '', run.shown)),
    };
  },
};

async function usesPytest(folder: ProjectFolder): Promise<boolean> {
  if (await folder.has('pytest.ini', '.pytest.ini', 'pytest.toml', '.pytest.toml', 'conftest.py')) return true;
  const says = async (name: string, what: RegExp): Promise<boolean> => what.test((await folder.text(name)) ?? '');
  if (await says('pyproject.toml', /^\s*\[tool\.pytest[.\]]|["'[\s]pytest["'\s<>=~^]/m)) return true;
  if (await says('setup.cfg', /^\[tool:pytest\]|^\s*pytest\b/m)) return true;
  if (await says('tox.ini', /^\[pytest\]|\bpytest\b/m)) return true;
  if (await says('setup.py', /["']pytest\b/)) return true;
  for (const name of REQUIREMENTS) if (await says(name, /^\s*"?pytest\b/m)) return true;
  if (await folder.hasFile(/(^|\/)conftest\.py$/, { manifests: PYTHON_MANIFESTS })) return true;
  const text = /^\s*(?:import pytest|from pytest)\b|^(?:async )?def test_/m;
  return await folder.hasFile(PYTHON_TEST_FILE, { text, manifests: PYTHON_MANIFESTS });
}

const lineSchema = z.discriminatedUnion('type', [
  ...watchEvents,
  z.object({ type: z.literal('end') }),
  z.object({
    type: z.literal('phase'),
    root: z.string(),
    node: z.string(),
    when: z.string(),
    outcome: z.string(),
    durationMs: z.number(),
    message: z.string().nullable(),
  }),
  z.object({
    type: z.literal('collect'),
    root: z.string(),
    node: z.string(),
    outcome: z.string(),
    message: z.string(),
  }),
]);

interface SeenTest {
  readonly path: readonly string[];
  readonly outcomes: Map<string, string[]>;
  message: string | undefined;
  durationMs: number;
}

/**
 * Combines the phases of each test. A test fails if one of its phases fails. An expected failure (xfail) counts as skipped, not as passed as
 * in SWE-bench, because the code under test can call `pytest.xfail()`. Throws `ReportError`.
 */
export function parsePytestLines(text: string, copy: string): TestReport {
  const collector = new ResultCollector(copy);
  const tests = new Map<string, SeenTest>();
  const watched: WatchEvent[] = [];
  for (const data of reporterEvents(text, lineSchema)) {
    if (data.type === 'collect') {
      const status = data.outcome === 'skipped' ? 'skipped' : 'failed';
      collector.add({ kind: 'container', status, path: pathOf(data.root, data.node, copy), message: data.message });
    } else if (data.type !== 'phase') {
      watched.push(data);
    } else if (data.outcome !== 'rerun' && data.outcome !== 'retried') {
      const key = `${data.root}\0${data.node}`;
      const known = tests.get(key);
      const seen = known ?? { path: pathOf(data.root, data.node, copy), outcomes: new Map(), message: undefined, durationMs: 0 };
      tests.set(key, seen);
      seen.outcomes.set(data.when, [...(seen.outcomes.get(data.when) ?? []), data.outcome]);
      if (data.outcome === 'failed') seen.message ??= data.message ?? undefined;
      seen.durationMs += data.durationMs;
    }
  }
  for (const { path: names, outcomes, message, durationMs } of tests.values())
    collector.add({ kind: 'test', status: statusOf(outcomes), path: names, message, durationMs });
  checkWatch(watched, collector);
  return { results: collector.results, ...importsIn(watched) };
}

function statusOf(outcomes: SeenTest['outcomes']): 'passed' | 'failed' | 'skipped' {
  const all = [...outcomes.values()].flat();
  const calls = outcomes.get('call');
  if (all.some((outcome) => outcome !== 'passed' && outcome !== 'skipped')) return 'failed';
  if (calls === undefined) return all.includes('skipped') ? 'skipped' : 'failed';
  return calls.includes('passed') ? 'passed' : 'skipped';
}

/** `tests/test_a.py::TestX::test_y[a::b]`, relative to pytest's root folder. */
function pathOf(root: string, node: string, copy: string): readonly string[] {
  const parameters = node.indexOf('[');
  const [file = '', ...names] = (parameters < 0 ? node : node.slice(0, parameters)).split('::');
  const last = names.pop();
  return [
    relativeFile(path.join(root, file), copy),
    ...names,
    ...(last === undefined ? [] : [last + (parameters < 0 ? '' : node.slice(parameters))]),
  ];
}
