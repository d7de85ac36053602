/**
 * A reporter for `node --test`, in JavaScript because the project's own Node loads it (18.15 or later). One signed line per event, and
 * a last line that says that the run was not cut off; `watch` is the module of `javascript-watch.ts`.
 *
 * Why not the built-in `junit`: it writes a test with subtests as a suite, so a test that fails behind passing subtests is
 * reported as nothing but passes (seen on Node 20.20 and 24.21), and on Node 20 it does not name the file.
 *
 * It takes itself out of NODE_OPTIONS before any test file starts: tests see no trace of it in their environment, and a Node that
 * they start does not write over it. Each file runs in a process of its own, which gets the guard instead and tells the runner of its
 * tests on its stdout. That is no wall: code under test can write there, too. What it writes must fit what Node writes itself; see
 * `parseEvents`. A file that is run without `--test` is one process with its reporter, and could take the key before that is loaded.
 */
export const nodeTestReporter = ({ watch, options, guardOption }: NodeTestReporter): string => `
import { createRequire } from 'node:module';
const line = createRequire(import.meta.url)(${JSON.stringify(watch)}).openReport();
line({ __proto__: null, type: 'start' });
const { NODE_OPTIONS = '' } = process.env;
const others = NODE_OPTIONS.replace(${JSON.stringify(options)}, process.execArgv.includes('--test') ? ${JSON.stringify(guardOption)} : '').trim();
if (others === '') delete process.env.NODE_OPTIONS;
else process.env.NODE_OPTIONS = others;
delete process.env.CONDUCTOR_NODE_OPTIONS;

const TYPES = new Set(['test:start', 'test:complete', 'test:pass', 'test:fail', 'test:plan', 'test:summary']);

export default async function* report(source) {
  for await (const { type, data } of source) {
    if (!TYPES.has(type)) continue;
    const error = data.details?.error;
    const cause = error?.cause;
    line({
      __proto__: null,
      type,
      file: data.file,
      entryFile: data.entryFile,
      name: data.name ?? '',
      nesting: data.nesting ?? 0,
      suite: data.details?.type === 'suite',
      skipped: Boolean(data.skip ?? false) || data.skip === '' || Boolean(data.todo ?? false) || data.todo === '',
      hasFailed: type === 'test:complete' ? data.details?.passed === false : error !== undefined,
      count: data.count ?? data.counts?.tests,
      message: error && String((typeof cause === 'object' && cause?.message) || cause || error.message).slice(0, 4000),
      durationMs: data.details?.duration_ms,
    });
  }
  line({ __proto__: null, type: 'end' });
}
`;

interface NodeTestReporter {
  /** The module of `javascript-watch.ts`. */
  readonly watch: string;
  /** What we have put into NODE_OPTIONS. */
  readonly options: string;
  /** Of that, what processes of tests are to have. */
  readonly guardOption: string;
}
