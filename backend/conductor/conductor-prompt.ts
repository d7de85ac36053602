import type { Message } from '../workers/model.ts';
import { leftOutLines, type EarlierTold } from '../workflow/earlier-told.ts';
import { MAX_STEPS } from '../workflow/plan.ts';
import { barePrompt } from './bare-prompt.ts';
import { paperPrompt } from './paper-prompt.ts';
import type { PlanExample } from './plan-examples.ts';
import { projectLines, recordLines, recordTitle, shownLine } from './prompt-facts.ts';
import type { PastRound, PoolEntry, PromptInput } from './prompt-input.ts';
import type { ConductorPrompt, PromptProfile } from './prompt-profile.ts';
import { renderPlan } from './render-plan.ts';

/*
 * The Conductor's prompt. It has the structure of the paper's (arXiv 2512.04388 Fig. 13 and 14) in our own words: it defines the three
 * lists, gives examples and names workers by ordinal. In a later round it shows the result of the one before.
 *
 * What stays the same comes first, so that providers can cache it. A cache holds a prompt up to the first character that differs:
 *
 *     instructions, examples   the same for all questions
 *     workers, project         change when somebody changes them
 *     records                  change with every judged run
 *     files, failing tests, earlier exchanges, question
 */

const SYSTEM =
  'You conduct a team of language models. You do not answer the question yourself: you think about how the team can answer it best and ' +
  'write the plan by which it will work.';

/** The first words of the Conductor's reasoning. A local model continues them; an endpoint is asked to begin with them. */
const OPENING =
  'Let me think step by step about how to break the question into subtasks, which worker should do each, and whose outputs each may read.';
const REVISION_OPENING = 'Let me think step by step about whether the plan of the last round needs to change, and how.';

export function conductorPrompt(input: PromptInput, profile: PromptProfile): ConductorPrompt {
  if (!profile.isInstructed) return { messages: barePrompt(input, profile), prefill: '' };
  if (profile.form === 'paper') return paperPrompt(input, profile);
  const messages: Message[] = [
    { role: 'system', content: SYSTEM },
    firstTurn(input, profile),
  ];
  for (const round of input.rounds) {
    messages.push(
      { role: 'assistant', content: round.planText },
      { role: 'user', content: revisionTurn(round, profile) },
    );
  }
  for (const { text, wish } of input.discarded ?? []) {
    messages.push({ role: 'assistant', content: clipped(text, profile.answerCharacters) || '(nothing)' }, { role: 'user', content: anotherPlan(wish, profile) });
  }
  if (input.rejection) {
    messages.push(
      { role: 'assistant', content: clipped(input.rejection.text, profile.answerCharacters) || '(nothing)' },
      {
        role: 'user',
        content: `That is not a valid plan, and nothing was done. ${input.rejection.message} Write the reasoning and all three lists again.`,
      },
    );
  }
  return { messages, prefill: input.rounds.length > 0 ? REVISION_OPENING : OPENING };
}

/** The prompt for a server that cannot continue a prefill: the user's turn ends with a request for the same words. */
export function endpointMessages(input: PromptInput, profile: PromptProfile): Message[] {
  const { messages, prefill } = conductorPrompt(input, profile);
  if (prefill === '') return [...messages];
  const last = messages.at(-1) as Message;
  return [...messages.slice(0, -1), { ...last, content: `${last.content}\n\nBegin your reply with: ${prefill}` }];
}

/** `sharedPrefix` ends before the records, which another run of the same project may already have changed. */
function firstTurn(input: PromptInput, profile: PromptProfile): Message {
  const [shared, own] = [sharedParts(input, profile), ownParts(input, profile)].map((parts) => parts.filter(Boolean).join('\n\n')) as [string, string];
  const { shown = [] } = input.pictures ?? {};
  return { role: 'user', content: `${shared}\n\n${own}`, sharedPrefix: shared.length, ...(shown.length > 0 && { pictures: shown }) };
}

function sharedParts({ pool, project = {} }: PromptInput, profile: PromptProfile): string[] {
  return [
    'A programmer has asked the question at the end. Plan how the workers listed below answer it. They differ in what they are good at, ' +
      'and you can only see that from their descriptions and from experience. First reason in a few sentences; then write the plan as ' +
      'three Python lists of equal length, one entry a step:',
    '- model_id: for each step the number of the worker that does it. A worker may do several steps or none.',
    '- subtasks: for each step the instruction its worker is given, in words. Say what to do and what to hand on. Every worker is also ' +
      'shown the question and the project context, but not the other subtasks. Write each for this question, with the names, files and ' +
      'errors that it is about, and ask for what was asked for: words for a question, code or changed files only where a change was wanted. ' +
      'Speak of a fault only if one was reported, and of other steps\' work only where the step may read it.',
    '- access_list: for each step whose earlier outputs its worker may read: [] for none, ["all"] for those of all earlier steps, or ' +
      'numbers of earlier steps, counted from 0, such as [0, 2]. What a step may not read, it does not know.',
    `Use at most ${MAX_STEPS} steps, and no more than the question is worth: one is enough for a greeting, a short question, or what one worker does well alone. ` +
      'Each step but the last is read by a later one. Steps that do not read each other run at the same time. ' +
      'The output of the last step is the answer that the programmer gets, so it must be complete by itself. Where the project has ' +
      'tests, the answer is checked against them.',
    'Examples of the form. They are about other projects and other workers: take the form from them, and the plan from the question.',
    ...profile.examples.map(example),
    `AVAILABLE WORKERS:\n${pool.map(worker).join('\n')}`,
    titled('PROJECT', projectLines(project)),
  ];
}

function ownParts({ question, pictures, earlier, context, shown = [], failing = '', pool }: PromptInput, { contextCharacters, answerCharacters }: PromptProfile): string[] {
  return [
    titled(recordTitle(pool), recordLines(pool)),
    titled('FILES that every worker is shown, whole or in part', shownLine(shown)),
    titled('PROJECT CONTEXT', clipped(context, contextCharacters)),
    titled('TESTS THAT FAIL NOW', clipped(failing, answerCharacters)),
    ...(earlier ? earlierParts(earlier) : []),
    titled('USER QUESTION', question),
    pictures ? `${pictures.words} ${WHO_SEES}`.trim() : '',
    'Now reason in a few sentences, and write the three lists.',
  ];
}

/** Workers are told the same. */
function earlierParts({ exchanges, leftOut, note, lostChange = '' }: EarlierTold): string[] {
  const told = exchanges.map(({ question, pictures, result, answer }) => [`Question: ${question}`, ...(pictures === undefined ? [] : [pictures]), `Result: ${result}`, ...(answer === '' ? [] : [`Answer: ${answer}`])].join('\n'));
  return [
    titled('EARLIER in this conversation, which every worker is shown; the last is the newest', [...leftOutLines({ leftOut }), ...told].join('\n\n')),
    note ?? '',
    titled('THAT CHANGE', lostChange),
  ];
}

const titled = (title: string, text: string): string => text && `${title}:\n${text}`;

function example({ question, reasoning, plan }: PlanExample, index: number): string {
  return `EXAMPLE ${index + 1}\nQuestion: ${question}\n${reasoning}\n${renderPlan(plan)}`;
}

const worker = ({ description, hasHands, seesPictures }: PoolEntry, ordinal: number): string =>
  [`Worker ${ordinal}`, [description?.replace(/\s+/g, ' '), hasHands && HANDS, seesPictures && SEES].filter(Boolean).join(' ')].filter(Boolean).join(': ');

const SEES = '[sees pictures]';
const WHO_SEES = `Workers marked ${SEES} see pictures; the others are only told of them, so a step may put into words what it sees.`;

const HANDS = '[reads, edits and runs the code and its tests before it answers]';

function revisionTurn({ answer, feedback, mayKeep = true }: PastRound, profile: PromptProfile): string {
  return [
    'Your plan was carried out. The answer of its last step:',
    clipped(answer, profile.answerCharacters),
    `TEST FEEDBACK:\n${clipped(feedback, profile.answerCharacters)}`,
    `${mayKeep ? 'You may now write' : 'Now write'} another plan of at most ${MAX_STEPS} steps that corrects or improves this answer. Its workers are shown the ` +
      'question; a step with ["all"] also sees this round\'s outputs and the feedback.' +
      (mayKeep ? ' To keep the answer as it is, write three empty lists: model_id = [], subtasks = [], access_list = [].' : ''),
  ].join('\n\n');
}

function anotherPlan(wish: string | undefined, profile: PromptProfile): string {
  return [
    'The programmer read this plan and wants another one. Nothing was done.',
    ...(wish ? [`What the programmer says of it:\n${clipped(wish, profile.answerCharacters)}`] : ['Divide the work differently, or give it to other workers.']),
    'Write the reasoning and all three lists again.',
  ].join('\n\n');
}

/** Keeps the beginning and the end of a text that is too long: both tend to matter more than the middle. */
function clipped(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const head = Math.ceil(characters * 0.7);
  const tail = characters - head;
  return `${text.slice(0, head)}\n[… ${text.length - characters} characters left out …]\n${text.slice(text.length - tail)}`;
}
