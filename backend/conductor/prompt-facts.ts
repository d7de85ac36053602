import { clip } from '../common/clip.ts';
import { counted } from '../common/counted.ts';
import { formatDuration, formatUsd } from '../protocol/figures.ts';
import type { ProjectFacts } from '../protocol/project-facts.ts';
import type { PoolEntry } from './prompt-input.ts';

/*
 * What is known of the project and of its workers, in the words of the Conductor's prompt. Each is empty where nothing is known. Commands
 * and paths come from the workspace: each is put on one line and clipped.
 */

const MOST_PATHS = 40;
const MOST_CHARACTERS = 200;
/** With fewer runs, a share is mostly chance: 1 of 2 may well be a worker that fails one time in five. */
const ENOUGH_RUNS = 5;

export function projectLines({ languages = [], testCommand }: ProjectFacts): string {
  return [
    ...(languages.length > 0 ? [`Written mainly in ${languages.map(line).join(', ')}.`] : []),
    ...(testCommand === undefined ? [] : [`Answers that change files are judged by: ${line(testCommand)}`]),
  ].join('\n');
}

/** A line for each worker with a record: how many of its runs were verified, and what a step of it costs and takes. */
export function recordLines(pool: readonly PoolEntry[]): string {
  return pool.flatMap(({ record }, ordinal) => {
    if (!record) return [];
    const { runs, verified, usd, durationMs } = record;
    const few = runs < ENOUGH_RUNS ? ' (too few to judge by)' : '';
    const cost = usd === undefined ? 'price unknown' : formatUsd(usd);
    return [`Worker ${ordinal}: ${verified} of ${counted(runs, 'run')} verified${few}; a step takes ${formatDuration(durationMs)}, ${cost}`];
  }).join('\n');
}

export function shownLine(shown: readonly string[]): string {
  const paths = shown.slice(0, MOST_PATHS).map(line);
  return [...paths, ...(shown.length > MOST_PATHS ? [`and ${shown.length - MOST_PATHS} more`] : [])].join(', ');
}

function line(text: string): string {
  return clip(text.replace(/\s+/g, ' ').trim(), MOST_CHARACTERS);
}
