import * as vscode from 'vscode';
import { formatTokens, formatUsd } from '../../backend/protocol/figures.ts';
import { heldPlan } from '../../backend/protocol/held-plan.ts';
import { answerOf } from '../../backend/protocol/run-facts.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { isRed } from '../../backend/protocol/test-changes.ts';
import { runsText, runText, verdictText } from '../../backend/protocol/tool-texts.ts';
import { isVerified } from '../../backend/protocol/verdict-facts.ts';
import { messageOf } from '../common/backend-connection.ts';
import { requireTrust } from '../common/require-trust.ts';
import { readSettings } from '../common/settings.ts';
import { signalOf } from '../common/signal-of.ts';
import { relativePath } from '../common/workspace-paths.ts';
import { verifyInBackground } from '../tests/verify-in-background.ts';
import type { ChatParts } from './chat-parts.ts';
import { folderCalled } from './places.ts';
import { plain } from './run-narrator.ts';
import { followInChat } from './runs-in-chat.ts';
import { readRunsInput, readSolveInput, readVerifyInput, type SolveInput } from './tool-inputs.ts';

/*
 * The tools that any agent of VS Code can call. Each is a thin client of the backend, with the window's keys, settings and trust. Texts of
 * results are for models, and English as the tools of MCP; those of confirmations are for people.
 */

const MAX_PIECES = 12;

/** What the person is asked before `conductor_solve` spends money: the question, who may answer, the limit, and what is sent. */
export async function prepareSolve(parts: ChatParts, input: unknown, token: vscode.CancellationToken): Promise<vscode.PreparedToolInvocation> {
  const { question, folder } = solvable(readSolveInput(input));
  await parts.solve.requireWorker();
  const { workers, runUsd } = await parts.connection.request('pool/get', {});
  const able = workers.filter(({ worker, ready }) => worker.enabled && ready).map(({ worker }) => worker.id);
  const limit = runUsd === undefined ? '' : ` ${vscode.l10n.t('It may cost up to {0}, the limit of a run.', formatUsd(runUsd))}`;
  const sent = readSettings(folder?.uri).confirmContext ? await previewed(parts, readSolveInput(input), token) : [];
  const message = new vscode.MarkdownString([
    `> ${plain(question)}`,
    plain(`${vscode.l10n.t('A plan across {0} answers it, and the project’s tests judge the change.', able.join(', '))}${limit}`),
    ...sent,
  ].join('\n\n'));
  return { invocationMessage: vscode.l10n.t('Conductor solves'), confirmationMessages: { title: vscode.l10n.t('Let Conductor solve this?'), message } };
}

/** The pieces of the project that go with the question, as the setting `conductor.confirmContext` asks. */
async function previewed({ connection, solve }: ChatParts, input: SolveInput, token: vscode.CancellationToken): Promise<string[]> {
  const { question, ...asked } = solvable(input);
  const request = await solve.request(question, asked);
  if (!request) throw new vscode.CancellationError();
  const { pieces, tokens } = await connection.request('context/preview', { request }, signalOf(token));
  const named = pieces.slice(0, MAX_PIECES).map(({ path, startLine, endLine }) => `\`${path.replaceAll('`', '')}:${startLine}-${endLine}\``);
  const more = pieces.length > MAX_PIECES ? [plain(vscode.l10n.t('and {0} more', pieces.length - MAX_PIECES))] : [];
  return [`${plain(vscode.l10n.t('Sent with it, about {0} tokens:', formatTokens(tokens)))} ${[...named, ...more].join(', ')}`];
}

/** Begins a run and follows it to its end, or until its plan waits for a person. */
export async function invokeSolve(parts: ChatParts, input: unknown, token: vscode.CancellationToken): Promise<vscode.LanguageModelToolResult> {
  const { question, ...asked } = solvable(readSolveInput(input));
  await parts.solve.requireWorker();
  const signal = signalOf(token);
  // What is sent was shown with the confirmation.
  const runId = await parts.solve.start(question, { ...asked, confirm: false, signal });
  if (runId === undefined) throw new vscode.CancellationError();
  const run = await followInChat(parts, { runId, signal, isEnd: (now) => heldPlan(now) !== undefined });
  if (token.isCancellationRequested) throw new vscode.CancellationError();
  const held = heldPlan(run) ? '\n\nThe user looks at each plan before it runs: the plan waits in the panel "Conductor".' : '';
  return resultOf(runText(run) + held, runFields(run));
}

export async function invokeVerify({ extensionFolder, storage }: ChatParts, input: unknown, token: vscode.CancellationToken): Promise<vscode.LanguageModelToolResult> {
  const { verdict, problem } = await verifyInBackground({
    extensionFolder, storage, folder: folderCalled(readVerifyInput(input).folder), signal: signalOf(token), onProgress: () => undefined,
  });
  if (token.isCancellationRequested) throw new vscode.CancellationError();
  if (!verdict) throw new Error(problem);
  const { outcome, reason, command, tests } = verdict;
  const failing = tests.filter(isRed).map(({ id, before, after }) => ({ id, before, after }));
  return resultOf(verdictText(verdict), { outcome, verified: isVerified(verdict), reason, command, failing });
}

/** The latest runs of the open folders, or one of them. Costs nothing. */
export async function invokeRuns({ connection, list }: ChatParts, input: unknown): Promise<vscode.LanguageModelToolResult> {
  const { runId, search = '', limit = 20 } = readRunsInput(input);
  if (runId !== undefined) {
    const { run } = await connection.request('run/get', { runId });
    requireOpen(run);
    return resultOf(runText(run), runFields(run));
  }
  const runs = (await list.find(search)).slice(0, limit);
  return resultOf(runsText(runs), {
    runs: runs.map((run) => ({ runId: run.runId, question: run.question, state: run.state, outcome: run.outcome ?? null, usd: run.usd })),
  });
}

/** A model reads no runs of projects that are not open here. */
function requireOpen({ request: { workspace } }: RunSnapshot): void {
  if (workspace === undefined || (vscode.workspace.workspaceFolders ?? []).some(({ uri }) => uri.fsPath === workspace)) return;
  throw new Error(vscode.l10n.t('The run belongs to the folder {0}, which is not open in this window.', workspace));
}

/** @throws NextStepError in Restricted Mode; an error with a sentence if there is no such folder */
function solvable({ question, folder: named, files, continues }: SolveInput): {
  readonly question: string; readonly folder: vscode.WorkspaceFolder | undefined; readonly files: { readonly path: string }[];
  readonly continues?: { readonly runId: string; readonly workspace: string | undefined };
} {
  const folder = folderCalled(named);
  const workspace = folder?.uri.fsPath;
  requireTrust(workspace);
  const paths = files.flatMap((file) => {
    const path = workspace === undefined ? undefined : relativePath(workspace, vscode.Uri.joinPath(vscode.Uri.file(workspace), file).fsPath) ?? relativePath(workspace, file);
    return path === undefined ? [] : [{ path }];
  });
  return { question, folder, files: paths, ...(continues !== undefined && { continues: { runId: continues, workspace } }) };
}

function runFields(run: RunSnapshot): Record<string, unknown> {
  const edits = (answerOf(run)?.round.answer?.edits ?? []).map(({ path }) => path);
  return { runId: run.runId, state: run.state, outcome: run.outcome ?? null, verified: run.outcome === 'verified', edits, usd: run.spent.usd };
}

/** The text, and the same as JSON for those that compute with it. */
function resultOf(text: string, fields: Record<string, unknown>): vscode.LanguageModelToolResult {
  return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text), new vscode.LanguageModelTextPart(JSON.stringify(fields))]);
}

/** VS Code gives the model the sentence of an error alone. */
export async function told<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof vscode.CancellationError) throw error;
    throw new Error(messageOf(error), { cause: error });
  }
}
