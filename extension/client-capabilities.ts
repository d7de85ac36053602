import * as vscode from 'vscode';
import type { BackendRequestHandlers } from '../backend/protocol/client/backend-client.ts';
import type { BackendRequests, Capability, Params } from '../backend/protocol/methods.ts';
import { personPython } from './tests/person-python.ts';
import type { KeyStore } from './workers/keys.ts';
import { callLanguageModel } from './workers/language-models.ts';

export const CAPABILITIES: readonly Capability[] = ['secret', 'confirm', 'model', 'python'];

type Question = Params<BackendRequests, 'client/confirm'>;

export interface ClientCapabilityOptions {
  readonly keys: KeyStore;
  readonly sendModelText: (callId: string, text: string) => void;
}

/** Handlers for the requests that the backend sends to this window. */
export function clientCapabilities({ keys, sendModelText }: ClientCapabilityOptions): BackendRequestHandlers {
  return {
    // Does not prompt for a missing key: the run may belong to another window, and an unexpected dialog is a nuisance.
    'client/secret': async ({ name }) => ({ value: (await keys.get(name)) ?? null }),
    'client/confirm': async (question, signal) => ({ accepted: await confirm(question, signal) }),
    'client/python': ({ workspace }) => Promise.resolve({ python: personPython(workspace) }),
    'client/model': (call, signal) => callLanguageModel(call, signal, (text) => sendModelText(call.callId, text)),
  };
}

/** Closing the dialog declines. A run that ends while the dialog is open declines, too. */
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
