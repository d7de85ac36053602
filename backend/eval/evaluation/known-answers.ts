import path from 'node:path';
import type { KnownAnswers } from '../../simulator/known-answers.ts';
import { letterOf } from '../../verify/graders/multiple-choice.ts';
import type { SweBenchRow } from '../swe-bench/rows.ts';
import type { SpecifiedTask } from './file-tasks.ts';
import type { ProjectEvalTask } from './project-source.ts';

/** What simulated workers know, by question. */
export function knownAnswers(tasks: readonly SpecifiedTask[], ofProject: readonly ProjectEvalTask[], ofSweBench: readonly SweBenchRow[]): ReadonlyMap<string, KnownAnswers> {
  const known = new Map<string, KnownAnswers>();
  for (const task of tasks) {
    const answers = knownAnswersOf(task);
    if (answers) known.set(task.question.trim(), answers);
  }
  for (const [question, records] of Map.groupBy(ofProject.map(({ record }) => record), (record) => record.question.trim())) {
    known.set(question, changesOf(records));
  }
  for (const { question, gold } of ofSweBench) {
    if (gold !== undefined) known.set(question.trim(), { right: `${FENCE}diff\n${gold.replace(/\n?$/, '\n')}${FENCE}`, wrong: ['It has to be changed where the tests fail.'] });
  }
  return known;
}

/** Longer than any fence that a file is likely to have. */
const FENCE = '`'.repeat(5);

/** Different bugs may be asked about in the same words: then the files of all are given as they should be. */
function changesOf(records: readonly ProjectEvalTask['record'][]): KnownAnswers {
  const files = new Map(records.flatMap((record) => [record, ...record.further ?? []]).map((file) => [file.path, file]));
  const blocks = (text: (file: Pick<ProjectEvalTask['record'], 'before' | 'after'>) => string | null): string =>
    [...files.values()].flatMap((file) => {
      const content = text(file);
      return content === null ? [] : [`${FENCE}${path.extname(file.path).slice(1)} title="${file.path}"\n${content.replace(/\n?$/, '\n')}${FENCE}`];
    }).join('\n\n');
  return { right: blocks(({ before }) => before), wrong: [blocks(({ after }) => after), 'It has to be changed where the tests fail.'] };
}

/** A right answer and wrong ones, for simulated workers. Undefined if the task has no answer that can be told. */
export function knownAnswersOf({ spec, reference }: Pick<SpecifiedTask, 'spec' | 'reference'>): KnownAnswers | undefined {
  switch (spec.kind) {
    case 'choice': {
      const right = typeof spec.answer === 'number' ? spec.answer : spec.answer.toUpperCase().charCodeAt(0) - 65;
      const [first, ...rest] = spec.choices.map((_, position) => position).filter((position) => position !== right).map((position) => `Answer: ${letterOf(position)}`);
      return first === undefined ? undefined : { right: `Answer: ${letterOf(right)}`, wrong: [first, ...rest] };
    }
    case 'math': {
      const value = Number(spec.answer);
      const [one, other] = Number.isFinite(value) ? [value + 1, value - 2] : ['0', '-1'];
      return { right: `\\boxed{${spec.answer}}`, wrong: [`\\boxed{${one}}`, `\\boxed{${other}}`] };
    }
    case 'exact': {
      const [answer] = typeof spec.answer === 'string' ? [spec.answer] : spec.answer;
      return { right: `Answer: ${answer}`, wrong: ['Answer: none of these', 'Answer: it cannot be said'] };
    }
    case 'check':
      return reference === undefined ? undefined : { right: reference, wrong: wrongPrograms(reference) };
    case 'cases':
    case 'unittest':
      return undefined;
  }
}

/** Programs with a mistake: nothing is returned, or the function ends with an error. */
function wrongPrograms(program: string): [string, string] {
  const isFunction = /^(\s*)return\b.*$/gm;
  const withoutResult = program.replaceAll(isFunction, '$1return None');
  const lines = program.split('\n');
  const last = lines.findLastIndex((line) => /^\s+\S/.test(line));
  const indent = /^\s*/.exec(lines[last] ?? '')?.[0] ?? '    ';
  const failing = lines.toSpliced(last, 1, `${indent}raise NotImplementedError`).join('\n');
  return [withoutResult === program ? failing : withoutResult, failing];
}
