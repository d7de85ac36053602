import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { shellQuote } from '../sandbox/shell-quote.ts';
import { exists, type ProjectFolder } from './project-folder.ts';
import { checkWatch, signedReport, watchEvents, type WatchEvent } from './signed-report.ts';
import { relativeFile, reporterEvents, ResultCollector } from './report-file.ts';
import { rubyReporter } from './ruby-reporter.ts';
import { programUses, simpleCommands, withEdits, type Edit } from './shell-words.ts';
import { watchTestFiles } from './test-files.ts';
import type { TestReport } from './test-report.ts';
import type { PreparedRun, RunToPrepare } from './test-runner.ts';

/* How RSpec, Minitest and test-unit are run: `ruby-reporter.ts` finds out which of them it is. */

export const RUBY_MANIFESTS = ['Gemfile', 'gems.rb', 'Rakefile', '.rspec'];

/** What decides how the tests are run, and the gems that are loaded before them. */
export const RUBY_CONFIGURATION = [/(^|\/)(\.rspec(-local)?|\.simplecov|rakefile(\.rb)?|gemfile|gems\.rb|gems\.locked|\.ruby-version|[^/]+\.gemspec)$/, /(^|\/)\.bundle\//];

/** Whether files that are named as RSpec's are run by Minitest. */
export const hasSpecsOfMinitest = async (folder: ProjectFolder): Promise<boolean> =>
  !(await folder.has('.rspec')) && (await folder.hasFile(/(^|\/)spec\/(?:.*_spec|[^/]*helper)\.rb$/, { text: /\bminitest\/(?:autorun|spec)\b|\bMinitest::Spec\b/, manifests: RUBY_MANIFESTS }));

export async function prepareRuby(run: RunToPrepare): Promise<PreparedRun> {
  const report = await signedReport(run.report, { startsOthers: true });
  const file = path.join(run.tools, 'conductor.rb');
  await writeFile(file, rubyReporter({ ...report, copy: run.shown }));
  const option = `-r${file}`;
  const edits: Edit[] = [];
  let own = '';
  for (const { assignments } of simpleCommands(run.command))
    for (const { text, start } of assignments) {
      const [name = '', ...value] = text.split('=');
      if (name !== 'RUBYOPT') continue;
      own = value.join('=');
      const at = start + name.length + 1;
      edits.push({ start: at, end: at, text: `${shellQuote(`${option} `)}` });
    }
  const checkTestFiles = await watchTestFiles(run.copy);
  const isLocked = await exists(path.join(run.copy, 'Gemfile.lock'));
  const bundle = await bundleOf(run.workspace);
  return {
    command: withEdits(run.command, edits),
    environment: {
      RUBYOPT: option,
      CONDUCTOR_RUBYOPT: own,
      // Bundler keeps to what is installed.
      ...(isLocked && { BUNDLE_FROZEN: 'true' }), BUNDLE_DISABLE_VERSION_CHECK: 'true', BUNDLE_APP_CONFIG: path.join(run.tools, 'bundle'),
      // All tests count, not only those up to the first failure.
      SPEC_OPTS: '--no-fail-fast',
      // Of Rails' processes one tells what the tests find. Spring's run them where nothing is told.
      PARALLEL_WORKERS: '1', DISABLE_SPRING: '1',
      ...(bundle !== undefined && { BUNDLE_PATH: bundle }),
    },
    ...(bundle !== undefined && { readable: [bundle] }),
    // Rake and Rails may start one process after another.
    ...(programUses(run.command, ['rake', 'rails']).length === 0 && { hasEnded: report.hasEnded }),
    readReport: async () => {
      await checkTestFiles();
      return parseRubyLines(await report.read(), run.shown);
    },
  };
}

/** Where the gems of a project are that were installed into it (absolute). */
export async function bundleOf(workspace: string): Promise<string | undefined> {
  const config = await readFile(path.join(workspace, '.bundle/config'), 'utf8').catch(() => '');
  const [, named] = /^BUNDLE_PATH:\s*"?([^"\n]+?)"?\s*$/m.exec(config) ?? [];
  const folder = path.resolve(workspace, named ?? 'vendor/bundle');
  if (named !== undefined) return (await exists(folder)) ? folder : undefined;
  // A `bundle install` that failed leaves `ruby/3.1.0` without anything in it, where Bundler would find no gem.
  const versions = await readdir(path.join(folder, 'ruby')).catch(() => []);
  const installed = await Promise.all(versions.map((version) => readdir(path.join(folder, 'ruby', version)).catch(() => [])));
  return installed.some((entries) => entries.length > 0) ? folder : undefined;
}

const lineSchema = z.discriminatedUnion('type', [
  ...watchEvents,
  z.object({ type: z.literal('end') }),
  z.object({
    type: z.literal('result'),
    /** `all`: no other test may have run because of it. */
    kind: z.enum(['test', 'container', 'all']),
    status: z.enum(['passed', 'failed', 'skipped']),
    file: z.string().nullable(),
    names: z.array(z.string()).max(100),
    message: z.string().nullable(),
    durationMs: z.number(),
  }),
]);

/** Throws `ReportError`. */
export function parseRubyLines(text: string, copy: string): TestReport {
  const collector = new ResultCollector(copy);
  const watched: WatchEvent[] = [];
  for (const event of reporterEvents(text, lineSchema)) {
    if (event.type !== 'result') {
      watched.push(event);
      continue;
    }
    const { kind, status, file, names, message, durationMs } = event;
    const place = file === null ? undefined : relativeFile(file, copy);
    const isAll = kind === 'all';
    // A file that cannot be loaded is known by its name alone.
    const parts = isAll && place !== undefined ? [place] : [place, ...names.map((name) => name.replaceAll(`${copy}/`, ''))];
    collector.add({ kind: isAll ? 'container' : kind, status, path: parts, message: message || undefined, durationMs, ...(isAll && { hidesAll: true }) });
  }
  checkWatch(watched, collector);
  return { results: collector.results };
}
