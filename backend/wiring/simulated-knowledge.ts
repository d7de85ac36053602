import { GymBook, type GymTask } from '../lab/gym/gym-tasks.ts';
import { gymRule } from '../lab/gym/gym-worker.ts';
import { knownAnswersRule, type KnownAnswers } from '../simulator/known-answers.ts';
import type { WorkerRule } from '../simulator/worker-model.ts';

/**
 * Simulated workers that know tasks of the gym and answers to other questions, and are right or wrong by a hidden skill.
 * @param known by the question, without white space at its ends
 */
export function knowingRule(gym: readonly GymTask[], known: ReadonlyMap<string, KnownAnswers>): WorkerRule {
  const book = new GymBook(gym);
  const gymAnswers = (question: string): KnownAnswers | undefined => {
    const task = book.find(question);
    const [first, ...rest] = task?.wrong.map(({ source }) => source) ?? [];
    return task && first !== undefined ? { right: task.source, wrong: [first, ...rest] } : undefined;
  };
  const ofGym = gymRule(book);
  const ofOthers = knownAnswersRule((question) => known.get(question.trim()) ?? gymAnswers(question));
  return (character, asked) => {
    const text = asked.messages.map(({ content }) => content).join('\n');
    const isVerdict = text.includes('ACCEPT or ESCALATE');
    const isGym = !isVerdict && gym.some(({ question }) => text.includes(question));
    return isGym ? ofGym(character, asked) : ofOthers(character, asked);
  };
}
