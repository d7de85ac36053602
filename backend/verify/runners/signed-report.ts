import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { protectedReason } from '../files/protected-paths.ts';
import { ID_SEPARATOR, NoReportError, ReportError, type TestReport } from './test-report.ts';
import { readReportFile, unreadable } from './report-file.ts';

/** A report whose lines `python-lines.ts` signs. */
export interface SignedReport {
  /** Both absolute. */
  readonly destination: string;
  readonly keyFile: string;
  /** The events of all test runs, one per line. Throws `ReportError`, also if a run has no end. */
  read(): Promise<string>;
  /** Whether all test runs have ended. */
  hasEnded(): Promise<boolean>;
}

/** `startsOthers`: processes of the command take a key as well that run no tests. */
export async function signedReport(folder: string, { startsOthers = false } = {}): Promise<SignedReport> {
  const destination = path.join(folder, `${randomUUID()}.jsonl`);
  const keyFile = path.join(folder, `${randomUUID()}.key`);
  const key = randomBytes(32);
  await writeFile(keyFile, `0 ${key.toString('hex')}`, { mode: 0o600 });
  const read = async (): Promise<string> => withoutSignatures(await readReportFile(destination), key, startsOthers);
  let sizeSeen = -1;
  const hasEnded = async (): Promise<boolean> => {
    const { size } = await stat(destination);
    // A report that grows has no end yet, and is read once it stops growing.
    const grows = size !== sizeSeen;
    sizeSeen = size;
    return !grows && (await read().then(() => true, () => false));
  };
  return { destination, keyFile, read, hasEnded };
}

/**
 * A command may run tests several times, even concurrently. Each run has a number, a key and its own line numbers, and so has each worker
 * of a run (`0.3`). A worker may be stopped at any time, so its lines have no end.
 */
function withoutSignatures(text: string, firstKey: Buffer, startsOthers: boolean): string {
  const keys = [firstKey];
  const keyOf = (run: number, worker: string | undefined): Buffer => {
    while (keys.length <= run) keys.push(createHash('sha256').update(keys.at(-1) ?? '').update('next').digest());
    const key = keys[run] ?? firstKey;
    return worker === undefined ? key : createHash('sha256').update(key).update(`worker ${run}.${worker}`).digest();
  };
  const runs = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, signature, signed = '', run, worker, number, event = ''] = /^([0-9a-f]{64}) ((\d{1,3})(?:\.(\d{1,6}))? (\d{1,9}) (.*))$/s.exec(line) ?? [];
    if (run === undefined) throw unreadable(line);
    const key = keyOf(Number(run), worker);
    if (signature !== createHash('sha256').update(key).update(signed).update(key).digest('hex')) throw unreadable(line);
    const name = worker === undefined ? run : `${run}.${worker}`;
    const events = runs.get(name) ?? [];
    runs.set(name, events);
    if (events.push(event) - 1 !== Number(number)) throw new ReportError('Lines of the report are missing.');
  }
  for (const number of keys.keys()) {
    const events = runs.get(String(number)) ?? [];
    if (startsOthers && events.length <= 1) continue;
    if (events.at(-1) !== '{"type":"end"}') throw new ReportError('The report ends before the tests did.');
  }
  if (startsOthers && [...runs.values()].every((events) => events.length <= 1)) throw new NoReportError();
  return [...runs.values()].flat().join('\n');
}

/** Events of the watch. They show that a report cannot be trusted; the last one tells what was imported. */
export const watchEvents = [
  z.object({ type: z.literal('start') }),
  z.object({ type: z.literal('planted'), what: z.string() }),
  z.object({ type: z.literal('replaced'), name: z.string(), file: z.string().nullable() }),
  z.object({ type: z.literal('imported'), own: z.array(z.string()), elsewhere: z.array(z.tuple([z.string(), z.string()])) }),
] as const;
export type WatchEvent = z.infer<(typeof watchEvents)[number]>;

/** Throws `ReportError` if the code under test replaced what the report relies on. Tests themselves may replace it. */
export function checkWatch(events: readonly WatchEvent[], { results }: TestReport): void {
  const testFiles = new Set(results.map(({ id }) => id.split(ID_SEPARATOR)[0]));
  for (const event of events) {
    if (event.type === 'planted') throw new ReportError(event.what);
    if (event.type !== 'replaced') continue;
    const { name, file } = event;
    if (file !== null && (testFiles.has(file) || protectedReason(file) !== undefined)) continue;
    throw new ReportError(`The code under test put something else in the place of what tests rely on, and left it: ${name}.`);
  }
}

/** What all test runs of a command imported. Undefined if none told. */
export function importsIn(events: readonly WatchEvent[]): Pick<TestReport, 'imports'> {
  const told = events.flatMap((event) => (event.type === 'imported' ? [event] : []));
  return told.length === 0 ? {} : { imports: { own: new Set(told.flatMap(({ own }) => own)), elsewhere: new Map(told.flatMap(({ elsewhere }) => elsewhere)) } };
}
