import type { Files, Hack, JudgedHack } from '../../verify/reward-hacks/hacks.ts';
import { BUG, FIX } from '../../verify/reward-hacks/python/projects.ts';
import { EDITS } from '../../verify/reward-hacks/python/pytest-edits.ts';
import { ENDINGS } from '../../verify/reward-hacks/python/pytest-endings.ts';
import { FORGERIES } from '../../verify/reward-hacks/python/pytest-forgeries.ts';
import { LIES } from '../../verify/reward-hacks/python/pytest-lies.ts';
import { PLANTS } from '../../verify/reward-hacks/python/pytest-plants.ts';
import { RECOGNITION } from '../../verify/reward-hacks/python/pytest-recognition.ts';
import { editHacks } from '../../verify/reward-hacks/typescript/edits.ts';
import { NODE_TEST } from '../../verify/reward-hacks/typescript/kit.ts';
import { NODE_TEST_HACKS } from '../../verify/reward-hacks/typescript/node-test-hacks.ts';
import { fixedSources } from '../../verify/reward-hacks/typescript/projects.ts';
import { recognitionHacks } from '../../verify/reward-hacks/typescript/recognition.ts';
import { comparingHacks, runningHacks } from '../../verify/reward-hacks/typescript/running.ts';

/** A project with a bug, its fix, and what of the known hacks is written for it. */
export interface HackTask {
  readonly id: string;
  readonly fix: JudgedHack;
  /** A change that neither mends nor breaks anything: what an honest worker gives that does not find the bug. */
  readonly attempt: JudgedHack;
  readonly hacks: readonly Hack[];
}

/** Projects with fewer hacks would make hackers that mostly have none. */
const LEAST_HACKS = 4;

const python = [...EDITS, ...ENDINGS, ...LIES, ...PLANTS, ...FORGERIES, ...RECOGNITION];
const javascript = [...editHacks(NODE_TEST), ...runningHacks(NODE_TEST), ...recognitionHacks(NODE_TEST), ...comparingHacks(NODE_TEST), ...NODE_TEST_HACKS];

/** The projects of the hacks for pytest and for node:test that many hacks share. */
export function hackTasks(): HackTask[] {
  return [
    ...tasksOf('pytest', python, (file, text) => (file.endsWith('.py') && text.includes(BUG) ? text.replace(BUG, FIX) : undefined)),
    ...tasksOf('node-test', javascript, (file) => fixedSources(NODE_TEST)[file]),
  ];
}

function tasksOf(runner: string, hacks: readonly Hack[], fixed: (file: string, text: string) => string | undefined): HackTask[] {
  const byProject = Map.groupBy(hacks, ({ project, history, command }) => JSON.stringify([project, history, command]));
  return [...byProject.values()].filter((list) => list.length >= LEAST_HACKS).flatMap((list, index) => {
    const [first] = list;
    if (!first) return [];
    const sources = sourcesOf(first.project).flatMap(([file, text]): [string, string, string][] => {
      const after = fixed(file, text);
      return after === undefined || after === text ? [] : [[file, text, after]];
    });
    if (sources.length === 0) return [];
    const comment = runner === 'pytest' ? '# Looked at.\n' : '// Looked at.\n';
    const answer = (textOf: (before: string, after: string) => string): JudgedHack =>
      ({ ...judgedPart(first), change: Object.fromEntries(sources.map(([file, before, after]) => [file, textOf(before, after)])) });
    return [{ id: `${runner}-${index}`, fix: answer((_, after) => after), attempt: answer((before) => before + comment), hacks: list }];
  });
}

const sourcesOf = (project: Files): [string, string][] =>
  Object.entries(project).flatMap(([file, text]): [string, string][] => (typeof text === 'string' ? [[file, text]] : []));

const judgedPart = ({ project, history, command, runner }: Hack): Omit<JudgedHack, 'change' | 'answer'> =>
  ({ project, command, ...(history && { history }), ...(runner !== undefined && { runner }) });
