import type { Message } from '../workers/model.ts';
import { MAX_STEPS } from '../workflow/plan.ts';
import type { PromptInput } from './prompt-input.ts';
import type { ConductorPrompt, PromptProfile } from './prompt-profile.ts';
import { renderPlan } from './render-plan.ts';

/*
 * The form of the paper's prompt (arXiv 2512.04388, figures 13 and 14) in our own words, for evaluations: a general system message; one turn
 * that defines the three lists, where access is all or nothing; examples; the question; the workers as bare numbers, without descriptions,
 * records or what is known of a project. A later round is told the last answer and may keep it.
 */

const SYSTEM =
  'You are a helpful assistant. You first reason about how a team of models is best led to answer what a user asks, and then say how, so that ' +
  'the user gets the answer.';
const OPENING =
  'Let me think step by step about how to break this question down into subtasks, which models do them, and which of them see the responses of the others.';
const REVISION_OPENING = 'Let me think step by step about whether I need to change anything in the previous routing.';

export function paperPrompt({ question, context, pool, rounds }: PromptInput, { examples, contextCharacters, answerCharacters }: PromptProfile): ConductorPrompt {
  const asked = [
    'You obtain the answer to a question by querying powerful language models in turn, each of which has skills of its own. You do so by three Python lists:',
    '- model_id: the number of the model that is queried in each step.',
    '- subtasks: what each of them is asked to do, in natural language. Break the question down, or have an answer checked or improved, as it needs.',
    '- access_list: for each step ["all"], if its model sees the subtasks and responses of all steps before it, or [], if it sees none.',
    `The lists have equal length, of at most ${MAX_STEPS} steps. Every model sees the question, and the response of the last one is given to the user.`,
    ...(examples.length === 0 ? [] : [`For instance:\n\n${examples.map((example) => `${example.question}\n${example.reasoning}\n${renderPlan(example.plan)}`).join('\n\n')}`]),
    `USER QUESTION: ${question}${context === '' ? '' : `\n\n${context.slice(0, contextCharacters)}`}`,
    `AVAILABLE LANGUAGE MODELS: ${pool.map((_, ordinal) => `Model id ${ordinal}`).join(', ')}`,
  ].join('\n\n');
  const later = rounds.flatMap(({ planText, answer, feedback }): Message[] => [
    { role: 'assistant', content: planText },
    {
      role: 'user',
      content: [
        `The response of the last model was:\n\n${answer.slice(0, answerCharacters)}`, feedback.slice(0, answerCharacters),
        `Write three lists of at most ${MAX_STEPS} steps that check, correct or complete this response; ["all"] then also shows what was said before. ` +
          'To return it as it is, write three empty lists: model_id = [], subtasks = [], access_list = [].',
      ].filter((part) => part !== '').join('\n\n'),
    },
  ]);
  return {
    messages: [{ role: 'system', content: SYSTEM }, { role: 'user', content: asked }, ...later],
    prefill: rounds.length > 0 ? REVISION_OPENING : OPENING,
  };
}
