import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import type { StepWork, Turn, WorkPlace } from '../solve/step-work.ts';
import type { ModelReply } from '../workers/model.ts';
import type { ClientTools } from './client-tools.ts';
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
  const { maxOutputTokens, temperature, topP, reasoningEffort } = conversation;
  const limit = run.pool[step.worker]?.maxOutputTokens;
  return {
    request: (_messages, turns) => ({
      messages: speakerMessages({ messages: tools.latest(runId) ?? journalled(conversation.messages, turns), turns, advice, subtask: step.subtask }),
      ...(conversation.tools.length > 0 && { tools: conversation.tools }),
      ...(maxOutputTokens !== undefined && { maxOutputTokens: Math.min(maxOutputTokens, limit ?? maxOutputTokens) }),
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { topP }),
      ...(reasoningEffort !== undefined && { reasoningEffort }),
    }),
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
    ...results.map(({ callId, text }) => ({ role: 'tool' as const, callId, content: text })),
  ])];
}
