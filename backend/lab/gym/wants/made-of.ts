import type { KeyedRandom } from '../../../common/keyed-random.ts';
import type { GymTask } from '../gym-tasks.ts';

/** A task that is made of another one: of its function, its solution and its plausible wrong solutions. */
export type MadeOf = Omit<GymTask, 'id' | 'generator' | 'split' | 'kind' | 'difficulty' | 'want'>;

/** Undefined where the exercise does not lend itself to it. */
export type MakeTask = (exercise: GymTask, random: KeyedRandom) => MadeOf | undefined;

/** A question with code below it. */
export const withCode = (question: string, source: string): string => `${question}\n\n\`\`\`js\n${source}\`\`\``;

/** The calls of a task's cases, as a person writes them. */
export function callsOf({ functionName, cases }: Pick<GymTask, 'functionName' | 'cases'>): { readonly call: string; readonly given: readonly unknown[] }[] {
  return cases.map(({ input }) => {
    const given = input.split('\n').map((line): unknown => JSON.parse(line));
    return { call: `${functionName}(${given.map((value) => JSON.stringify(value)).join(', ')})`, given };
  });
}
