import * as vscode from 'vscode';
import type { BackendRequestHandlers } from '../backend/protocol/client/backend-client.ts';
import type { Capability } from '../backend/protocol/methods.ts';
import type { KeyStore } from './keys.ts';
import { callLanguageModel } from './language-models.ts';

export const CAPABILITIES: readonly Capability[] = ['secret', 'confirm', 'model'];

export interface ClientCapabilityOptions {
  readonly keys: KeyStore;
  readonly sendModelText: (callId: string, text: string) => void;
}

/** What the backend can ask of this window. */
export function clientCapabilities({ keys, sendModelText }: ClientCapabilityOptions): BackendRequestHandlers {
  return {
    // A key that is not there is not asked for here: a run may belong to another window, and a box that pops up by
    // itself is a nuisance.
    'client/secret': async ({ name }) => ({ value: (await keys.get(name)) ?? null }),
    'client/confirm': async (question, signal) => ({ accepted: await confirm(question, signal) }),
    'client/model': (call, signal) => callLanguageModel(call, signal, (text) => sendModelText(call.callId, text)),
  };
}

/** Closing the dialog declines; so does a run that ends while the dialog is open, since nobody waits for the answer any more. */
async function confirm(question: { title: string; detail: string; accept: string }, signal: AbortSignal): Promise<boolean> {
  const chosen = Promise.resolve(
    vscode.window.showWarningMessage(question.title, { modal: true, detail: question.detail }, question.accept),
  );
  const aborted = new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
  return (await Promise.race([chosen, aborted])) === question.accept;
}
