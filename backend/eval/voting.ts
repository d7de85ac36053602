import type { EvalTask } from './run-plan.ts';

/** Whether two answers to a task are the same vote. */
export type SameAnswer = (one: string, other: string) => Promise<boolean>;

/** The positions of equal answers, in the order of each group's first answer. An answer is compared with the first of each group. */
export async function groupAnswers(answers: readonly string[], isSame: SameAnswer): Promise<number[][]> {
  const groups: number[][] = [];
  for (const [position, answer] of answers.entries()) {
    let found: number[] | undefined;
    for (const group of groups) {
      if (await isSame(answers[group[0] ?? 0] ?? '', answer)) {
        found = group;
        break;
      }
    }
    if (found) found.push(position);
    else groups.push([position]);
  }
  return groups;
}

/** Same if both have the same key. An answer without a key agrees with none. */
export function byKey(keyOf: (answer: string) => string | undefined): SameAnswer {
  return (one, other) => {
    const key = keyOf(one);
    return Promise.resolve(key !== undefined && key === keyOf(other));
  };
}

/**
 * For changes of a project: two are the same vote if its tests end alike with them. One that changes nothing, or is refused, agrees with none.
 * Which tests should pass plays no part.
 */
export function sameTestResults({ tests }: Pick<EvalTask, 'tests'>, signal: AbortSignal): SameAnswer {
  const keyOf = async (answer: string): Promise<string | undefined> => {
    const judged = await tests?.grade({ answer, signal });
    return judged && judged.tests.length > 0 ? JSON.stringify(judged.tests.map(({ id, after }) => [id, after])) : undefined;
  };
  return async (one, other) => {
    const key = await keyOf(one);
    return key !== undefined && key === (await keyOf(other));
  };
}
