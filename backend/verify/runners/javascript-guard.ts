import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { watchEvents, type WatchEvent } from './signed-report.ts';
import { jsonLines, readReportFile, unreadable } from './report-file.ts';
import { simpleCommands, withEdits } from './shell-words.ts';
import type { RunToPrepare } from './test-runner.ts';

/**
 * A module that every Node process of the tests loads first. At the end of the process it writes what the code has replaced, as a line with
 * the sender's id. vitest's workers do not learn of their end, so there it writes with each message to the runner, and the last line of a
 * sender counts. No line means that nothing was replaced.
 */
const javascriptGuard = ({ watch, destination, option, before }: GuardFiles): string => `
'use strict';
const { isMainThread, parentPort, threadId } = require('worker_threads');
${before}
const isNodeTest = isMainThread && String(process.env.NODE_TEST_CONTEXT).startsWith('child');
// Node resolves modules in a thread of its own, which has no port to a parent. What is done there before it is ready stops the process.
const isVitest = (process.env.VITEST || /[\\\\/](?:vitest|tinypool)[\\\\/]/.test(process.argv[1])) && (isMainThread ? process.send : parentPort);
if (isNodeTest || isVitest) {
  // It removes itself from the environment, so tests do not see it and a Node that they start does not load it.
  const { NODE_OPTIONS = '' } = process.env;
  process.env.NODE_OPTIONS = NODE_OPTIONS.replace(${JSON.stringify(option)}, '').trim();
  if (process.env.NODE_OPTIONS === '') delete process.env.NODE_OPTIONS;
  delete process.env.${OWN_OPTIONS};
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

interface GuardFiles {
  readonly watch: string;
  readonly destination: string;
  readonly option: string;
  readonly before: string;
}

export interface GuardOfTests {
  /** For NODE_OPTIONS. */
  readonly option: string;
  /** What was replaced when the test processes ended. Throws `ReportError`. */
  read(): Promise<readonly WatchEvent[]>;
}

/**
 * Writes the guard, for a run whose `watch` (absolute) is `javascript-watch.ts`.
 * @param before source text that every Node process runs first, with `isMainThread` in scope
 */
export async function guardOfTests({ tools, report }: RunToPrepare, watch: string, before = ''): Promise<GuardOfTests> {
  const guard = path.join(tools, 'conductor-guard.cjs');
  const destination = path.join(report, `${randomUUID()}.replaced`);
  const option = `--require=${nodeOption(guard)}`;
  await writeFile(guard, javascriptGuard({ watch, destination, option, before }));
  await writeFile(destination, '', { mode: 0o600 });
  return { option, read: async () => parseGuard(await readReportFile(destination)) };
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

/** A variable with the options, for commands that set NODE_OPTIONS themselves. */
const OWN_OPTIONS = 'CONDUCTOR_NODE_OPTIONS';

/** Adds options to NODE_OPTIONS in the environment, and in the command if it sets NODE_OPTIONS itself. */
export function withNodeOptions(command: string, options: string): { command: string; environment: Readonly<Record<string, string>> } {
  const name = 'NODE_OPTIONS=';
  const edits = simpleCommands(command)
    .flatMap(({ assignments }) => assignments)
    .filter(({ start }) => command.startsWith(name, start))
    .map(({ start }) => ({ start: start + name.length, end: start + name.length, text: `"$${OWN_OPTIONS} "` }));
  return {
    command: withEdits(command, edits),
    environment: { NODE_OPTIONS: options, ...(edits.length > 0 && { [OWN_OPTIONS]: options }) },
  };
}
