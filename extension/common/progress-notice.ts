import * as vscode from 'vscode';

/**
 * Delay in milliseconds before the notice appears. Shorter work needs none. Besides, VS Code limits notifications to three per 800
 * milliseconds, so notices that only flash up could suppress the result.
 */
const NOTICE_AFTER_MS = 400;

type Progress = Parameters<Parameters<typeof vscode.window.withProgress>[1]>[0];

/** Updates the progress text. It is shown as soon as the notice appears. */
type Report = (step: { readonly message?: string; readonly increment?: number }) => void;

/** Runs a task that the user waits for. If it takes longer, shows a notification with its progress and a Cancel button. */
export async function withProgressNotice<T>(title: string, work: (report: Report, signal: AbortSignal) => Promise<T>): Promise<T> {
  const cancelled = new AbortController();
  let progress: Progress | undefined;
  let message: string | undefined;
  let increment = 0;
  const result = work((step) => {
    message = step.message ?? message;
    increment += step.increment ?? 0;
    progress?.report(step);
  }, cancelled.signal);
  const timer = setTimeout(() => {
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    void vscode.window.withProgress(options, async (shown, token) => {
      token.onCancellationRequested(() => cancelled.abort());
      progress = shown;
      shown.report({ ...(message !== undefined && { message }), ...(increment > 0 && { increment }) });
      await result.catch(() => undefined);
    });
  }, NOTICE_AFTER_MS);
  try {
    return await result;
  } finally {
    clearTimeout(timer);
  }
}
