import * as vscode from 'vscode';
import { heldPlan } from '../../backend/protocol/held-plan.ts';
import { pictureOf, type Picture } from '../../backend/protocol/pictures.ts';
import { answerOf } from '../../backend/protocol/run-facts.ts';
import { isOver, type RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { messageOf } from '../common/backend-connection.ts';
import { chooseFolder } from '../common/looking-at.ts';
import { NextStepError } from '../common/next-step.ts';
import { openFolder } from '../common/open-folder.ts';
import { requireTrust } from '../common/require-trust.ts';
import { signalOf } from '../common/signal-of.ts';
import { relativePath } from '../common/workspace-paths.ts';
import type { Asked, Continued } from '../runs/solve-command.ts';
import { verifyInBackground } from '../tests/verify-in-background.ts';
import type { ChatParts } from './chat-parts.ts';
import { readMessage, type Attached, type Reference } from './chat-references.ts';
import { estimateText, plain, planText, RunNarrator, tellEnd, verdictMarkdown, withIcons } from './run-narrator.ts';
import { followInChat } from './runs-in-chat.ts';

export const PARTICIPANT = 'conductor.chat';

/** What is kept with an answer in the chat, for the messages after it. */
interface Told {
  readonly runId: string;
}

/** Answers a message to `@conductor`. Without a command it solves. */
export async function answer(
  parts: ChatParts, request: vscode.ChatRequest, context: vscode.ChatContext, stream: vscode.ChatResponseStream, token: vscode.CancellationToken,
): Promise<vscode.ChatResult> {
  try {
    switch (request.command) {
      case 'verify': return await verify(parts, stream, token);
      case 'explain-plan': return await explainPlan(parts, { request, context, stream, token });
      default: return await solve(parts, { request, context, stream, token });
    }
  } catch (error) {
    if (error instanceof vscode.CancellationError) return {};
    if (!(error instanceof NextStepError)) return { errorDetails: { message: messageOf(error) } };
    stream.markdown(plain(error.message));
    for (const { label, command } of error.steps) stream.button({ title: label, command });
    return {};
  }
}

/** What may come next, as buttons under the answer. */
export async function followupsOf({ connection }: ChatParts, { metadata }: vscode.ChatResult): Promise<vscode.ChatFollowup[]> {
  const told = toldIn(metadata);
  if (!told) return [];
  const run = await runOf(connection, told);
  if (!run || !heldPlan(run)) return [];
  return [{ prompt: '', command: 'solve', label: vscode.l10n.t('Let this plan run') }];
}

interface Turn {
  readonly request: vscode.ChatRequest;
  readonly context: vscode.ChatContext;
  readonly stream: vscode.ChatResponseStream;
  readonly token: vscode.CancellationToken;
}

/** A question, a follow-up, or the plan before it, which is let run by a message without text. */
async function solve(parts: ChatParts, turn: Turn): Promise<vscode.ChatResult> {
  const { request, stream, token } = turn;
  const before = await runBefore(parts, turn.context);
  const plan = before && heldPlan(before);
  if (request.prompt.trim() === '' && before && plan) {
    requireTrust(before.request.workspace);
    await parts.connection.request('run/approvePlan', { runId: before.runId, ...plan });
    return tellRun(parts, before.runId, turn);
  }
  const runId = await start(parts, turn, before, {});
  return runId === undefined ? dismissed(stream, token) : tellRun(parts, runId, turn);
}

/** The plan alone, which then waits; or the plan of the answer before, for a message without text. */
async function explainPlan(parts: ChatParts, turn: Turn): Promise<vscode.ChatResult> {
  const { request, stream, token } = turn;
  const before = await runBefore(parts, turn.context);
  if (request.prompt.trim() === '' && before) {
    for (const round of before.rounds.filter(({ plan }) => plan)) stream.markdown(planText(before, round));
    return toldOf(before.runId);
  }
  const runId = await start(parts, turn, before, { reviewPlan: 'always' });
  if (runId === undefined) return dismissed(stream, token);
  // The plan says itself that it waits: the follow-up under the answer lets it run.
  const narrator = new RunNarrator(stream);
  const run = await followInChat(parts, {
    runId, signal: signalOf(token), isEnd: (now) => heldPlan(now) !== undefined,
    onChange: (now) => narrator.tell(heldPlan(now) ? { ...now, state: 'running' } : now),
  });
  if (!heldPlan(run)) return end(run, stream);
  const round = run.rounds.at(-1);
  if (round) stream.markdown(`${estimateText(round)}\n\n`);
  stream.button({ command: 'conductor.showPanel', title: vscode.l10n.t('Show in Panel'), arguments: [{ runId }] });
  return toldOf(runId);
}

async function verify({ onVerification, ...parts }: ChatParts, stream: vscode.ChatResponseStream, token: vscode.CancellationToken): Promise<vscode.ChatResult> {
  const choice = await chooseFolder(vscode.l10n.t('Which folder’s changes do you want to verify?'));
  if (choice.kind === 'dismissed') return dismissed(stream, token);
  const folder = choice.kind === 'folder' ? choice.folder : undefined;
  const { verdict, commit, problem } = await verifyInBackground({
    ...parts, folder, signal: signalOf(token), onProgress: (line) => stream.progress(line),
  });
  if (folder) onVerification({ folder: folder.name, ...(verdict && { verdict }), ...(commit !== undefined && { commit }), ...(problem !== undefined && { problem }) });
  stream.markdown(withIcons(verdict ? `${verdictMarkdown(verdict)}\n\n` : `$(warning) ${plain(problem ?? '')}\n\n`));
  if (verdict?.remedy !== undefined) stream.markdown(`\n\`\`\`sh\n${verdict.remedy.replaceAll('```', '')}\n\`\`\`\n`);
  stream.button({ command: 'conductor.showPanel', title: vscode.l10n.t('Show in Panel') });
  return {};
}

/** @returns the run's id; undefined if the user cancels */
async function start(parts: ChatParts, { request, stream, token }: Turn, before: RunSnapshot | undefined, asked: Pick<Asked, 'reviewPlan'>): Promise<string | undefined> {
  await parts.solve.requireWorker();
  const references = request.references.filter(isAttached).map(referenceOf);
  const continues = continuedFrom(before);
  const folder = continues?.workspace === undefined ? folderOf(references) : vscode.workspace.getWorkspaceFolder(vscode.Uri.file(continues.workspace));
  const choice = folder ? { kind: 'folder' as const, folder } : await chooseFolder();
  if (choice.kind === 'dismissed') return undefined;
  const root = choice.kind === 'folder' ? choice.folder.uri.fsPath : undefined;
  const { question, files, pictures: attached, leftOut } = readMessage(request.prompt, references, (file) => (root === undefined ? undefined : relativePath(root, file)));
  for (const name of leftOut) stream.markdown(withIcons(`$(circle-slash) ${plain(vscode.l10n.t('{0} is not sent with the question: it is outside the folder, or not a text file.', name))}\n\n`));
  const pictures: Picture[] = [];
  for (const { name, read } of attached) {
    try {
      pictures.push(pictureOf(await read()));
    } catch (error) {
      stream.markdown(withIcons(`$(circle-slash) ${plain(vscode.l10n.t('{0} is not sent with the question. {1}', name, messageOf(error)))}\n\n`));
    }
  }
  if (continues) stream.progress(vscode.l10n.t('Continuing from the answer before'));
  return parts.solve.start(question, {
    signal: signalOf(token), files, pictures, ...(continues && { continues }), ...(choice.kind === 'folder' && !continues && { folder: choice.folder }), ...asked,
  });
}

async function tellRun(parts: ChatParts, runId: string, { stream, token }: Turn): Promise<vscode.ChatResult> {
  const narrator = new RunNarrator(stream);
  return end(await followInChat(parts, { runId, signal: signalOf(token), onChange: (run) => narrator.tell(run) }), stream);
}

function end(run: RunSnapshot, stream: vscode.ChatResponseStream): vscode.ChatResult {
  const { runId, state } = run;
  tellEnd(run, stream);
  const edits = answerOf(run)?.round.answer?.edits ?? [];
  if (edits.length > 0 && vscode.workspace.isTrusted) {
    stream.button({ command: 'conductor.applyAnswer', title: vscode.l10n.t('Review and Apply'), arguments: [{ runId }] });
  }
  if (state !== 'completed') stream.button({ command: 'conductor.resume', title: vscode.l10n.t('Resume'), arguments: [{ runId }] });
  stream.button({ command: 'conductor.showPanel', title: vscode.l10n.t('Show in Panel'), arguments: [{ runId }] });
  return toldOf(runId);
}

function dismissed(stream: vscode.ChatResponseStream, token: vscode.CancellationToken): vscode.ChatResult {
  if (!token.isCancellationRequested) stream.markdown(plain(vscode.l10n.t('Nothing was sent.')));
  return {};
}

function toldOf(runId: string): vscode.ChatResult {
  const metadata: Told = { runId };
  return { metadata: { ...metadata } };
}

/** The chat keeps it on disk, where an earlier version may have written it. */
function toldIn(metadata: vscode.ChatResult['metadata']): Told | undefined {
  const runId: unknown = metadata?.runId;
  return typeof runId === 'string' ? { runId } : undefined;
}

/** The run of the last answer with one in this chat, if it still exists. */
async function runBefore({ connection }: ChatParts, { history }: vscode.ChatContext): Promise<RunSnapshot | undefined> {
  const responses = history.filter((turn) => turn instanceof vscode.ChatResponseTurn && turn.participant === PARTICIPANT);
  const told = responses.map((turn) => (turn instanceof vscode.ChatResponseTurn ? toldIn(turn.result.metadata) : undefined)).findLast((found) => found !== undefined);
  return told && runOf(connection, told);
}

/** Undefined if it was removed since. */
const runOf = (connection: ChatParts['connection'], { runId }: Told): Promise<RunSnapshot | undefined> =>
  connection.request('run/get', { runId }).then(({ run }) => run, () => undefined);

/** A run that goes on, or whose folder is closed by now, is not continued from: the question is asked afresh. */
function continuedFrom(run: RunSnapshot | undefined): Continued | undefined {
  if (!run || !isOver(run.state) || !answerOf(run)) return undefined;
  const { workspace } = run.request;
  const isOpen = workspace === undefined ? (vscode.workspace.workspaceFolders ?? []).length === 0 : openFolder(workspace) !== undefined;
  return isOpen ? { runId: run.runId, workspace } : undefined;
}

/** The folder of what is attached. */
function folderOf(references: readonly Reference[]): vscode.WorkspaceFolder | undefined {
  for (const { attached } of references) {
    const folder = attached.kind === 'file' ? vscode.workspace.getWorkspaceFolder(vscode.Uri.file(attached.file)) : undefined;
    if (folder) return folder;
  }
  return undefined;
}

/** VS Code adds references that nobody attached: what is open, which the question has anyway, and instructions for agents with tools. */
const ADDED = /^vscode\.(implicit|customizations|instructions|prompt)\b/;
const isAttached = ({ id }: vscode.ChatPromptReference): boolean => !ADDED.test(id);

function referenceOf({ id, value, range, modelDescription }: vscode.ChatPromptReference): Reference {
  return { range, attached: attachedOf(value, modelDescription ?? id) };
}

/** A picture that was pasted into the chat, which VS Code gives as its bytes, or a file that is called like one. */
function pictureIn(value: unknown, name: string): Attached | undefined {
  if (value instanceof vscode.Uri) {
    return /\.(?:png|jpe?g|webp|gif)$/i.test(value.path) ? { kind: 'picture', name: value.path.split('/').at(-1) ?? name, read: async () => vscode.workspace.fs.readFile(value) } : undefined;
  }
  if (typeof value !== 'object' || value === null || !('mimeType' in value) || !('data' in value)) return undefined;
  const { mimeType, data } = value;
  if (typeof mimeType !== 'string' || !mimeType.startsWith('image/') || typeof data !== 'function') return undefined;
  return { kind: 'picture', name, read: async () => bytesIn(await (data.call(value) as unknown)) };
}

function bytesIn(data: unknown): Uint8Array {
  return data instanceof Uint8Array ? data : new Uint8Array();
}

function attachedOf(value: unknown, name: string): Attached {
  const picture = pictureIn(value, name);
  if (picture) return picture;
  if (value instanceof vscode.Uri) return value.scheme === 'file' ? { kind: 'file', file: value.fsPath } : { kind: 'other', name: value.toString() };
  if (value instanceof vscode.Location && value.uri.scheme === 'file') {
    const { start, end: last } = value.range;
    // A range that ends before a line's first character excludes that line.
    const endLine = last.character === 0 && last.line > start.line ? last.line - 1 : last.line;
    return { kind: 'file', file: value.uri.fsPath, startLine: start.line, endLine };
  }
  return typeof value === 'string' && value !== '' ? { kind: 'text', name, text: value } : { kind: 'other', name };
}
