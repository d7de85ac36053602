import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import {
  ID_SEPARATOR,
  MAX_MESSAGE_CHARACTERS,
  MAX_REPORT_BYTES,
  ReportError,
  type TestReport,
  type TestResult,
} from '../test-report.ts';
import { MAX_FILE_BYTES } from '../text-file.ts';
import { NODE_TEST_REPORTER } from './node-test-reporter.ts';
import type { TestRunner } from './test-runner.ts';

/** Node's own test runner. */
export const nodeTest: TestRunner = {
  name: 'node-test',

  async detect(workspace) {
    const script = await testScript(workspace);
    // The script itself, not `npm test`: npm costs a third of a second and adds nothing.
    if (script !== undefined && /\bnode\b.*\s--test\b/.test(script)) return script;
    if (script !== undefined && !/no test specified/.test(script)) return undefined;
    return (await hasNodeTests(workspace)) ? 'node --test' : undefined;
  },

  understands(command) {
    return /\b(?:node|npm|pnpm|yarn)\b/.test(command);
  },

  async prepare({ command, tools, report }) {
    const reporter = path.join(tools, 'reporter.mjs');
    const destination = path.join(report, `${randomUUID()}.jsonl`);
    await writeFile(reporter, NODE_TEST_REPORTER);
    return {
      // Node wants a destination for every reporter; the project's own would be one too many.
      command: command.replaceAll(/\s--test-reporter(?:-destination)?(?:=|\s+)(?:"[^"]*"|'[^']*'|\S+)/g, ''),
      environment: {
        NODE_OPTIONS: `--test-reporter=${nodeOption(reporter)} --test-reporter-destination=${nodeOption(destination)}`,
      },
      readReport: async (copy) => parseEvents(await readBounded(destination), copy),
    };
  },
};

/** NODE_OPTIONS is split at spaces outside double quotes. */
function nodeOption(file: string): string {
  return `"${file.replaceAll(/["\\]/g, '\\$&')}"`;
}

async function testScript(workspace: string): Promise<string | undefined> {
  try {
    const parsed = packageSchema.safeParse(JSON.parse(await readSource(path.join(workspace, 'package.json'))));
    return parsed.data?.scripts?.test;
  } catch {
    return undefined;
  }
}

const packageSchema = z.object({ scripts: z.object({ test: z.string().optional() }).optional() });

const TEST_FILE = /(?:^test[-_.].*|^test|[-_.]test)\.[cm]?[jt]s$/;
const MAX_FOLDERS = 500;

/** Looks for a test file that imports `node:test`, a few levels deep and not in every folder of a large tree. */
async function hasNodeTests(workspace: string): Promise<boolean> {
  const folders: { folder: string; depth: number }[] = [{ folder: workspace, depth: 0 }];
  for (let seen = 0; seen < MAX_FOLDERS; seen += 1) {
    const next = folders.shift();
    if (!next) return false;
    const entries = await readdir(next.folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const absolute = path.join(next.folder, entry.name);
      if (entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.') && next.depth < 4) {
        folders.push({ folder: absolute, depth: next.depth + 1 });
      } else if (
        entry.isFile() &&
        (TEST_FILE.test(entry.name) || (path.basename(next.folder) === 'test' && /\.[cm]?[jt]s$/.test(entry.name)))
      ) {
        const text = await readSource(absolute).catch(() => '');
        if (/['"]node:test['"]/.test(text)) return true;
      }
    }
  }
  return false;
}

/**
 * A text of the workspace, which may hold anything under any name: a pipe would keep its reader waiting for ever, and a device or
 * a huge file would fill the memory. @throws what is wrong with it
 */
async function readSource(file: string): Promise<string> {
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await handle.stat();
    if (!found.isFile() || found.size > MAX_FILE_BYTES) throw new Error(`${file} is no source text.`);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

async function readBounded(file: string): Promise<string> {
  try {
    const found = await lstat(file);
    if (!found.isFile()) throw new ReportError('The test runner left something else than a report.');
    if (found.size > MAX_REPORT_BYTES) throw new ReportError(`The report is larger than ${MAX_REPORT_BYTES / 1024 / 1024} MiB.`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof ReportError) throw error;
    throw new ReportError('The test runner wrote no report.');
  }
}

const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('end') }),
  z.object({
    type: z.enum(['test:start', 'test:pass', 'test:fail']),
    file: z.string().optional(),
    name: z.string(),
    nesting: z.number().int().nonnegative().max(1_000),
    suite: z.boolean(),
    skipped: z.boolean(),
    failureType: z.string().optional(),
    message: z.string().optional(),
    durationMs: z.number().nonnegative().optional(),
  }),
]);

/**
 * Reads the lines of the reporter. The events of a file come in the order of its tests, a start before the starts of what is
 * inside, so that the open names of a file are the path of a test. Of two tests with one path the later gets a number.
 */
export function parseEvents(lines: string, copy: string): TestReport {
  const results: TestResult[] = [];
  const openNames = new Map<string, string[]>();
  const ids = new Set<string>();
  let hasEnd = false;
  for (const line of lines.split('\n')) {
    if (line === '') continue;
    const event = parseLine(line);
    if (event.type === 'end') {
      hasEnd = true;
      continue;
    }
    const file = event.file ?? '';
    const names = openNames.get(file) ?? [];
    openNames.set(file, names);
    names.length = Math.min(names.length, event.nesting);
    names[event.nesting] = event.name;
    if (event.type === 'test:start') continue;

    const relative = relativeFile(file, copy);
    // The runner reports a file of its own where it has no test, or has failed outside of them.
    const isFile = event.nesting === 0 && path.resolve(copy, event.name) === file;
    const isContainer = isFile || event.suite;
    const name = isFile ? relative : [relative, ...names].join(ID_SEPARATOR);
    let id = name;
    for (let use = 2; ids.has(id); use += 1) id = `${name} (${use})`;
    ids.add(id);
    results.push({
      id,
      kind: isContainer ? 'container' : 'test',
      status: event.skipped ? 'skipped' : event.type === 'test:pass' ? 'passed' : 'failed',
      ...(event.message !== undefined && {
        message: event.message.replaceAll(copy + path.sep, '').slice(0, MAX_MESSAGE_CHARACTERS),
      }),
      ...(event.durationMs !== undefined && { durationMs: event.durationMs }),
    });
  }
  if (!hasEnd) throw new ReportError('The report ends before the tests did.');
  return { results };
}

function parseLine(line: string): z.infer<typeof eventSchema> {
  try {
    return eventSchema.parse(JSON.parse(line));
  } catch {
    throw new ReportError(`The report has a line that cannot be read: ${line.slice(0, 100)}`);
  }
}

function relativeFile(file: string, copy: string): string {
  const relative = path.relative(copy, file);
  return relative.startsWith('..') || path.isAbsolute(relative) ? file : relative.split(path.sep).join('/');
}
