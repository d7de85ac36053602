import type { RunSummary } from '../backend/protocol/methods.ts';

/** Runs that continue from each other. */
export interface Conversation {
  /** Its first run. */
  readonly thread: string;
  readonly newest: RunSummary;
  /** The others, newest first. */
  readonly earlier: readonly RunSummary[];
}

/** Runs by conversation, each where its newest run is. @param runs newest first */
export function conversationsIn(runs: readonly RunSummary[]): readonly Conversation[] {
  const found = new Map<string, RunSummary[]>();
  for (const run of runs) {
    const thread = run.thread ?? run.runId;
    const known = found.get(thread);
    if (known) known.push(run);
    else found.set(thread, [run]);
  }
  return [...found].flatMap(([thread, [newest, ...earlier]]) => (newest ? [{ thread, newest, earlier }] : []));
}
