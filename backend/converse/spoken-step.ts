import type { Conversation } from '../protocol/conversation.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import { toolResult, type StepWork, type Turn, type WorkPlace } from '../solve/step-work.ts';
import { WorkerError } from '../workers/errors.ts';
import { failureSentence } from '../workers/failure-sentences.ts';
import type { ModelReply } from '../workers/model.ts';
import type { ClientTools } from './client-tools.ts';
import { closingWords } from './closing-call.ts';
import { withPictures } from './question-pictures.ts';
import { sessionKey } from './session-key.ts';
import { speakerMessages } from './speaker-messages.ts';

/** What calls tools is a turn, and so is an empty reply, which some clients ask again; everything else ends the step. A call that was cut off is none. */
export function isAnswer({ text, toolCalls = [], finishReason }: Pick<ModelReply, 'text' | 'toolCalls' | 'finishReason'>): boolean {
  return finishReason !== 'stop' || (toolCalls.length === 0 && !isEmpty(text));
}

const isEmpty = (text: string): boolean => text.trim() === '';

/**
 * The last step of a plan in a conversation that another program holds: its worker is sent that program's messages and tools, and speaks there.
 * The program runs the tools; the step waits for what they return.
 */
export function spokenStep({ run, round, step }: WorkPlace, tools: ClientTools): StepWork {
  const { runId, conversation } = run;
  if (!conversation) throw new Error('Only a run of a conversation has a step that speaks.');
  const session = sessionKey(conversation);
  const advice = adviceFor(run, round, step.reads);
  const worker = run.pool[step.worker];
  const { maxOutputTokens: limit, reasoningEffort: ownEffort } = worker ?? {};
  const person = conversation.messages.findLastIndex(({ role }) => role === 'user');
  return {
    request: (_messages, turns) => {
      const told = tools.latest(runId) ?? { ...conversation, messages: withPictures(journalled(conversation.messages, turns), person, run.request.pictures) };
      const { maxOutputTokens, toolChoice, parallelCalls, format, seed, temperature, topP, frequencyPenalty, presencePenalty, reasoningEffort } = told;
      return {
        messages: speakerMessages({ messages: told.messages, person, turns, advice, subtask: step.subtask, worker }),
        ...(told.tools.length > 0 && { tools: told.tools }),
        ...(maxOutputTokens !== undefined && { maxOutputTokens: Math.min(maxOutputTokens, limit ?? maxOutputTokens) }),
        ...(toolChoice !== undefined && { toolChoice }),
        ...(parallelCalls !== undefined && { parallelCalls }),
        // What has to be a call is no text that has a format. Instructor asks for both, and servers that keep to the format then call nothing.
        ...(format !== undefined && !hasToCall(told) && { format }),
        ...(seed !== undefined && { seed }),
        ...(temperature !== undefined && { temperature }),
        ...(topP !== undefined && { topP }),
        ...(frequencyPenalty !== undefined && { frequencyPenalty }),
        ...(presencePenalty !== undefined && { presencePenalty }),
        // Agents ask every model for an effort, and models that have none refuse it.
        ...(reasoningEffort !== undefined && ownEffort !== undefined && { reasoningEffort }),
      };
    },
    isOutput: isAnswer,
    observe: async (reply, signal, turns, calls = []) => {
      const { toolChoice } = tools.latest(runId) ?? conversation;
      const came = await tools.results(runId, session, calls, toolChoice, signal);
      if (!came) return { text: '', output: closingWords(reply, calls, toolChoice) };
      // It was asked once more already: another one speaks, if there is one.
      if (calls.length === 0 && turns.at(-1)?.calls === undefined && turns.length > 0 && worker) throw new WorkerError({ kind: 'empty-answer', message: failureSentence('empty-answer', worker) });
      return came;
    },
  };
}

/** Whether no answer in text is allowed. */
function hasToCall({ tools, toolChoice }: Pick<Conversation, 'tools' | 'toolChoice'>): boolean {
  return tools.length > 0 && (toolChoice === 'required' || typeof toolChoice === 'object');
}

function adviceFor(run: RunSnapshot, round: number, reads: readonly number[]): { subtask: string; output: string }[] {
  const steps = run.rounds[round]?.steps ?? [];
  return reads.flatMap((index) => {
    const { subtask, output } = steps[index] ?? {};
    return subtask !== undefined && output !== undefined ? [{ subtask, output }] : [];
  });
}

/** The conversation as far as the journal has it, for a run that was taken up again. */
function journalled(messages: NonNullable<RunSnapshot['conversation']>['messages'], turns: readonly Turn[]): typeof messages {
  // An empty turn was asked again as if it had not been.
  const taken = turns.filter(({ calls = [] }) => calls.length > 0);
  return [...messages, ...taken.flatMap(({ reply, calls = [], results = [] }): typeof messages => [
    { role: 'assistant', content: reply, toolCalls: [...calls] },
    ...results.map(toolResult),
  ])];
}
