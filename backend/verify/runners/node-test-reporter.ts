/**
 * A reporter for `node --test`. It is JavaScript, because the project's own Node loads it (18.15 or later). It writes a signed line per
 * event, and a last line at the end of the run. `watch` is the module of `javascript-watch.ts`.
 *
 * The built-in `junit` reporter does not serve: it writes a test with subtests as a suite, so the failure of a test whose subtests pass is
 * lost (seen on Node 20.20 and 24.21). On Node 20 it does not name the file.
 *
 * It removes itself from NODE_OPTIONS before any test file starts. So tests do not see it in their environment, and a Node that they start
 * does not overwrite the report. Each file runs in its own process, which gets the guard instead and reports its tests on stdout. Code
 * under test can write there, too, but must match what Node itself writes; see `parseEvents`. A file that is run without `--test` shares
 * its process with the reporter, and could take the key before the reporter is loaded.
 */
export const nodeTestReporter = ({ watch, options, guardOption, startsFiles }: NodeTestReporter): string => `
import { createRequire } from 'node:module';
const { openReport, textOf } = createRequire(import.meta.url)(${JSON.stringify(watch)});
const line = openReport();
line({ __proto__: null, type: 'start' });
const { NODE_OPTIONS = '' } = process.env;
const others = NODE_OPTIONS.replace(${JSON.stringify(options)}, ${startsFiles} ? ${JSON.stringify(guardOption)} : '').trim();
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
      message: error && textOf(cause || error),
      durationMs: data.details?.duration_ms,
    });
  }
  line({ __proto__: null, type: 'end' });
}
`;

interface NodeTestReporter {
  /** The module of `javascript-watch.ts`. */
  readonly watch: string;
  /** The options that we added to NODE_OPTIONS. */
  readonly options: string;
  /** The ones among them for test processes. */
  readonly guardOption: string;
  /** JavaScript: whether the process of the reporter starts another one for each file of tests. */
  readonly startsFiles: string;
}
