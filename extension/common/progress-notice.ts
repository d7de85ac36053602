import * as vscode from 'vscode';

/**
 * Milliseconds before a notice appears. Work that is done sooner needs none, and VS Code lets pass all notices after the third of
 * 800 milliseconds: what came of the work would be lost behind those that only flashed up.
 */
const NOTICE_AFTER_MS = 400;

type Progress = Parameters<Parameters<typeof vscode.window.withProgress>[1]>[0];

/** What the work may tell of itself at any time; it is shown as soon as there is a notice. */
type Report = (step: { readonly message?: string; readonly increment?: number }) => void;

/** Does work that somebody waits for, with a notice once it takes a while: what it is, how far it got, and a way to cancel it. */
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
