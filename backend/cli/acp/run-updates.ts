import type { SessionUpdate, ToolCall } from '@agentclientprotocol/sdk';
import type { StoredEvent } from '../../protocol/run-events.ts';
import { heldPlan } from '../../protocol/held-plan.ts';
import type { LocalModelStatus } from '../../protocol/local-models.ts';
import type { RunSnapshot } from '../../protocol/run-snapshot.ts';
import type { RunWatcher } from '../follow-run.ts';
import { printable } from '../terminal.ts';
import { shownRun, type ShownRun } from './shown-run.ts';

export type SendUpdate = (update: SessionUpdate) => void;

/** Tells an editor how a run goes on: at each event, what differs from what it was told before. */
export class RunUpdates implements RunWatcher {
  readonly #send: SendUpdate;
  #plan = '[]';
  readonly #calls = new Map<string, ToolCall>();
  #said: string | undefined;

  constructor(send: SendUpdate) {
    this.#send = send;
  }

  begin(run: RunSnapshot): void {
    this.show(run);
  }

  onEvent(_event: StoredEvent, run: RunSnapshot): void {
    this.show(run);
  }

  onModel({ model, state }: LocalModelStatus): void {
    if (state === 'loading') this.#say(`The model ${model} is loading.`);
  }

  show(run: RunSnapshot): void {
    const shown = shownRun(run);
    this.#showPlan(shown);
    for (const call of shown.calls) this.#showCall(call);
    // A run that has ended no longer has the calls that were under way. They begin anew when it is resumed.
    const left = new Set(shown.calls.map(({ toolCallId }) => toolCallId));
    for (const call of this.#calls.values()) if (!left.has(call.toolCallId) && call.status !== 'completed' && call.status !== 'failed') this.#showCall({ ...call, status: 'failed' });
    // A plan that waits is asked about; for a key, or another question, somebody has to act.
    if (run.state === 'waiting' && run.message !== undefined && !heldPlan(run)) this.#say(run.message);
  }

  #showPlan({ plan }: ShownRun): void {
    const key = JSON.stringify(plan);
    if (key === this.#plan) return;
    this.#plan = key;
    this.#send({ sessionUpdate: 'plan', entries: [...plan] });
  }

  #showCall(call: ToolCall): void {
    const before = this.#calls.get(call.toolCallId);
    this.#calls.set(call.toolCallId, call);
    if (!before) return this.#send({ sessionUpdate: 'tool_call', ...call });
    const { toolCallId } = call;
    const changed = (['title', 'kind', 'status', 'content', 'locations'] as const).filter((name) => JSON.stringify(call[name]) !== JSON.stringify(before[name]));
    if (changed.length > 0) this.#send({ sessionUpdate: 'tool_call_update', toolCallId, ...Object.fromEntries(changed.map((name) => [name, call[name]])) });
  }

  #say(text: string): void {
    if (text === this.#said) return;
    this.#said = text;
    this.#send(message(`${text}\n\n`));
  }
}

/** Text that the person reads as the agent's words. */
export const message = (text: string): SessionUpdate => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: printable(text) } });
