import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { watchEvents, type WatchEvent } from './python-report.ts';
import { jsonLines, readReportFile, unreadable } from './report-file.ts';
import type { RunToPrepare } from './test-runner.ts';

/**
 * A module that every Node of the tests loads first. In a process of tests it says at the end, or where that is not told to it in
 * vitest's workers, with each message to the runner, what has been replaced: a line with who says so, of whom the last one counts. No
 * line, nothing replaced.
 */
const javascriptGuard = ({ watch, destination }: { readonly watch: string; readonly destination: string }): string => `
'use strict';
const { isMainThread, parentPort, threadId } = require('worker_threads');
const isNodeTest = isMainThread && String(process.env.NODE_TEST_CONTEXT).startsWith('child');
const isVitest = /[\\\\/]vitest[\\\\/]/.test(process.argv[1] ?? '') && (process.send !== undefined || !isMainThread);
if (isNodeTest || isVitest || (!isMainThread && process.env.VITEST)) {
  // The tests see no trace of it in their environment, and a Node that they start does without.
  delete process.env.NODE_OPTIONS;
  const { appendFileSync } = require('fs');
  const { stringify } = JSON;
  const replaced = require(${JSON.stringify(watch)}).watch();
  const self = process.pid + ' ' + threadId;
  let said = '[]';
  const look = () => {
    const found = stringify(replaced());
    if (found !== said) appendFileSync(${JSON.stringify(destination)}, self + ' ' + found + '\\n');
    said = found;
  };
  const lookBefore = (object, name) => {
    const send = object[name];
    object[name] = function (...given) {
      look();
      return send.apply(this, given);
    };
  };
  if (isNodeTest) process.on('exit', look);
  else if (isMainThread) lookBefore(process, 'send');
  else lookBefore(parentPort, 'postMessage');
}
`;

export interface GuardOfTests {
  /** For NODE_OPTIONS. */
  readonly option: string;
  /** What was replaced when the processes of the tests ended. Throws `ReportError`. */
  read(): Promise<readonly WatchEvent[]>;
}

/** Writes the guard, for a run whose `watch` (absolute) is `javascript-watch.ts`. */
export async function guardOfTests({ tools, report }: RunToPrepare, watch: string): Promise<GuardOfTests> {
  const guard = path.join(tools, 'conductor-guard.cjs');
  const destination = path.join(report, `${randomUUID()}.replaced`);
  await writeFile(guard, javascriptGuard({ watch, destination }));
  await writeFile(destination, '', { mode: 0o600 });
  return { option: `--require=${nodeOption(guard)}`, read: async () => parseGuard(await readReportFile(destination)) };
}

const replacedSchema = z.array(z.discriminatedUnion('type', [...watchEvents]));

function parseGuard(text: string): readonly WatchEvent[] {
  const last = new Map<string, readonly WatchEvent[]>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, self, json] = /^(\d+ \d+) (.*)$/.exec(line) ?? [];
    const { data } = replacedSchema.safeParse(json === undefined ? undefined : [...jsonLines(json)][0]);
    if (self === undefined || data === undefined) throw unreadable(line);
    last.set(self, data);
  }
  return [...last.values()].flat();
}

/** NODE_OPTIONS is split at spaces outside double quotes. */
export function nodeOption(file: string): string {
  return `"${file.replaceAll(/["\\]/g, '\\$&')}"`;
}
