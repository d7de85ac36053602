import { clip } from '../common/clip.ts';
import { counted } from '../common/counted.ts';
import { formatDuration, formatUsd } from '../protocol/figures.ts';
import type { ProjectFacts } from '../protocol/project-facts.ts';
import type { StepRole } from '../protocol/step-role.ts';
import type { WorkerRecord } from '../protocol/worker-record.ts';
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

/** What the lines of `recordLines` are. Runs of an earlier version have records of their own project alone. */
export function recordTitle(pool: readonly PoolEntry[]): string {
  return pool.some(({ record }) => record?.expected !== undefined)
    ? 'RECORDS of these workers, by the tests of projects; a verdict counts for every step of its plan, for each the less the more there are'
    : 'RECORDS of these workers in this project, by its own tests; a run counts for everybody who worked on it';
}

/**
 * A line for each worker with a record: the share of verified answers to expect of it, from how many answers that is known, and what a step of it
 * costs and takes.
 */
export function recordLines(pool: readonly PoolEntry[]): string {
  return pool.flatMap(({ record }, ordinal) => (record ? [`Worker ${ordinal}: ${recordWords(record)}`] : [])).join('\n');
}

function recordWords({ runs, verified, usd, durationMs, expected, elsewhere = { runs: 0, verified: 0 }, roles = [] }: WorkerRecord): string {
  const few = runs + elsewhere.runs < ENOUGH_RUNS ? ' (too few to judge by)' : '';
  const work = `a step takes ${formatDuration(durationMs)}, ${usd === undefined ? 'price unknown' : formatUsd(usd)}`;
  if (expected === undefined) return `${verified} of ${counted(runs, 'run')} verified${few}; ${work}`;
  const counts = [
    ...(runs > 0 ? [`${verified} of ${counted(runs, 'answer')} here`] : []),
    ...(elsewhere.runs > 0 ? [`${elsewhere.verified} of ${counted(elsewhere.runs, 'answer')} elsewhere`] : []),
  ];
  const byRole = roles.map(({ role, expected: share }) => `${ROLE_WORDS[role]} ${percent(share)}`).join(', ');
  return `about ${percent(expected)} verified${byRole && ` (${byRole})`}, from ${counts.join(' and ')}${few}; ${work}`;
}

const ROLE_WORDS: Readonly<Record<StepRole, string>> = { plan: 'planning', write: 'writing', check: 'checking' };
const percent = (share: number): string => `${Math.round(100 * share)} %`;

export function shownLine(shown: readonly string[]): string {
  const paths = shown.slice(0, MOST_PATHS).map(line);
  return [...paths, ...(shown.length > MOST_PATHS ? [`and ${shown.length - MOST_PATHS} more`] : [])].join(', ');
}

function line(text: string): string {
  return clip(text.replace(/\s+/g, ' ').trim(), MOST_CHARACTERS);
}
