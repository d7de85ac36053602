import * as vscode from 'vscode';
import type { BackendRequestHandlers } from '../backend/protocol/client/backend-client.ts';
import type { BackendRequests, Capability, Params } from '../backend/protocol/methods.ts';
import type { KeyStore } from './workers/keys.ts';
import { callLanguageModel } from './workers/language-models.ts';

export const CAPABILITIES: readonly Capability[] = ['secret', 'confirm', 'model'];

type Question = Params<BackendRequests, 'client/confirm'>;

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
async function confirm(question: Question, signal: AbortSignal): Promise<boolean> {
  const aborted = new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
  const { title, detail, accept, remedy } = question;
  const copy = vscode.l10n.t('Copy Install Command');
  for (;;) {
    const shown = vscode.window.showWarningMessage(title, { modal: true, detail }, accept, ...(remedy === undefined ? [] : [copy]));
    const chosen = await Promise.race([Promise.resolve(shown), aborted]);
    if (remedy === undefined || chosen !== copy) return chosen === accept;
    await vscode.env.clipboard.writeText(remedy);
  }
}
