import type * as vscode from 'vscode';

/** Aborts with the token. Not meant to outlive the call that the token belongs to. */
export function signalOf(token: vscode.CancellationToken): AbortSignal {
  const controller = new AbortController();
  token.onCancellationRequested(() => controller.abort());
  if (token.isCancellationRequested) controller.abort();
  return controller.signal;
}
