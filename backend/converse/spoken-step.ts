import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import { toolResult, type StepWork, type Turn, type WorkPlace } from '../solve/step-work.ts';
import type { ModelReply } from '../workers/model.ts';
import type { ClientTools } from './client-tools.ts';
import { withPictures } from './question-pictures.ts';
import { sessionKey } from './session-key.ts';
import { speakerMessages } from './speaker-messages.ts';

/** What calls tools is a turn; everything else ends the step. A call that was cut off is none. */
export function isAnswer({ toolCalls = [], finishReason }: Pick<ModelReply, 'toolCalls' | 'finishReason'>): boolean {
  return toolCalls.length === 0 || finishReason !== 'stop';
}

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
      const { maxOutputTokens, toolChoice, parallelCalls, format, seed, temperature, topP, reasoningEffort } = told;
      return {
        messages: speakerMessages({ messages: told.messages, person, turns, advice, subtask: step.subtask, worker }),
        ...(told.tools.length > 0 && { tools: told.tools }),
        ...(maxOutputTokens !== undefined && { maxOutputTokens: Math.min(maxOutputTokens, limit ?? maxOutputTokens) }),
        ...(toolChoice !== undefined && { toolChoice }),
        ...(parallelCalls !== undefined && { parallelCalls }),
        ...(format !== undefined && { format }),
        ...(seed !== undefined && { seed }),
        ...(temperature !== undefined && { temperature }),
        ...(topP !== undefined && { topP }),
        // Agents ask every model for an effort, and models that have none refuse it.
        ...(reasoningEffort !== undefined && ownEffort !== undefined && { reasoningEffort }),
      };
    },
    isOutput: isAnswer,
    observe: (_reply, signal, _turns, calls = []) => tools.results(runId, session, calls.map(({ id }) => id), signal),
  };
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
  return [...messages, ...turns.flatMap(({ reply, calls = [], results = [] }): typeof messages => [
    { role: 'assistant', content: reply, toolCalls: [...calls] },
    ...results.map(toolResult),
  ])];
}
