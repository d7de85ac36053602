import type { Message } from '../workers/model.ts';
import type { PromptInput } from './prompt-input.ts';
import type { PromptProfile } from './prompt-profile.ts';
import { digestLine, digestOf } from './worker-digest.ts';

/*
 * The prompt of a model that was trained to write plans only. It holds what differs between questions and no instructions. It shows the
 * last of the earlier rounds. Every part is clipped, so that the prompt never exceeds a few hundred tokens.
 */

/** Enough for a plan of five steps by such a model. */
const PLAN_CHARACTERS = 800;

export function barePrompt({ question, earlier, context, pool, rounds, discarded = [], rejection }: PromptInput, profile: PromptProfile): Message[] {
  const { questionCharacters, contextCharacters, answerCharacters } = profile;
  // A short question, such as "and for null?", does not name its subject: the question before it does.
  const before = earlier?.exchanges.at(-1)?.question ?? '';
  // What a model has not learned to read would only confuse it.
  const digested = profile.digestsHands ? pool : pool.map(({ description }) => ({ description }));
  const workers = digestLine(digestOf(`${before}\n${question}`, digested));
  const asked = [
    ...(context ? [`PROJECT CONTEXT:\n${abridged(context, contextCharacters)}`] : []),
    `USER QUESTION:\n${abridged(question.trim(), questionCharacters)}`,
    ...(workers === '' ? [] : [`WORKERS:\n${workers}`]),
  ];
  const messages: Message[] = [{ role: 'user', content: asked.join('\n\n') }];
  const past = rounds.at(-1);
  if (past) {
    const came = `ANSWER:\n${abridged(past.answer, answerCharacters)}\n\nTEST FEEDBACK:\n${abridged(past.feedback, answerCharacters)}`;
    messages.push({ role: 'assistant', content: abridged(past.planText, PLAN_CHARACTERS) }, { role: 'user', content: came });
  }
  // It was trained with one form of being asked again.
  for (const { text, wish = 'Write another plan.' } of discarded.slice(-1)) {
    messages.push({ role: 'assistant', content: abridged(text, PLAN_CHARACTERS) || '(nothing)' }, { role: 'user', content: `NOT A PLAN:\n${abridged(wish, answerCharacters)}` });
  }
  if (rejection) {
    const text = abridged(rejection.text, answerCharacters) || '(nothing)';
    messages.push({ role: 'assistant', content: text }, { role: 'user', content: `NOT A PLAN:\n${abridged(rejection.message, answerCharacters)}` });
  }
  const last = messages.at(-1) as Message;
  return [...messages.slice(0, -1), { ...last, content: `${last.content}\n\n${numbersOf(pool)}` }];
}

/** The last words before the plan. The number of workers is stated nowhere else. */
const numbersOf = ({ length }: PromptInput['pool']): string => (length === 1 ? 'Plan for worker 0.' : `Plan for workers 0 to ${length - 1}.`);

/** The beginning and the end of a text that is too long. */
function abridged(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const head = Math.ceil(characters * 0.8);
  return `${text.slice(0, head)} … ${text.slice(text.length - (characters - head))}`;
}
