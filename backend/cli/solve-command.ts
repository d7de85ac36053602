import type { BackendClient } from '../protocol/client/backend-client.ts';
import type { RunRequest } from '../protocol/run-request.ts';
import { hasChange } from '../protocol/run-facts.ts';
import { applyAnswer } from './apply-answer.ts';
import { solveRequest } from './arguments.ts';
import type { Command } from './command.ts';
import { Consent } from './consent.ts';
import { exitCodeOf } from './exit-codes.ts';
import { failedBeforeHint } from './failed-before-hint.ts';
import { followRun } from './follow-run.ts';
import { LAST, lastAnswered } from './last-run.ts';
import { likelyText } from './likely-text.ts';
import { readPictures } from './picture-files.ts';
import { atTerminal } from './plan-question.ts';
import { aboveText } from './project-above.ts';
import { RunPrinter } from './run-printer.ts';
import { runResult } from './run-result.ts';
import { jsonText, printable, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** `conductor solve "question"`: starts a run, prints its progress and its answer. */
export const solveCommand: Command = async (args, { terminal, connect, currentFolder, interrupted }) => {
  const { request: asked, json, yes, requireVerified, apply, pictures } = solveRequest(args, currentFolder);
  const request = pictures.length > 0 ? { ...asked, pictures: await readPictures(pictures) } : asked;
  if (request.reviewPlan && !terminal.readLine) throw new UsageError('--review asks about the plan at a terminal, and there is none here. Leave it out to run the plan as it is.');
  const consent = new Consent(terminal, { yes, json });
  const open = () => connect({ confirm: consent.confirm });
  const client = await open();
  try {
    await requireWorker(client);
    if (!json) await tellLikelyTests(request, client, terminal);
    const { runId } = await client.request('run/start', { request: await resolved(request, client) });
    consent.runId = runId;
    const printer = json ? undefined : new RunPrinter(terminal);
    const run = await followRun({ runId, client, connect: open, terminal, decide: atTerminal(terminal), printer, interrupted });
    const mayApply = hasChange(run) && (!requireVerified || run.outcome === 'verified');
    const applied = !apply ? undefined : mayApply ? await applyAnswer(run, client, { terminal }) : [];
    if (json) terminal.result(jsonText({ ...runResult(run), ...(applied && { applied }) }, 2));
    else printer?.end(run, { canApply: applied === undefined || applied.length === 0 });
    const hint = json ? undefined : failedBeforeHint(run);
    if (hint !== undefined) terminal.say(printable(hint));
    if (applied?.length) terminal.say(printable(`Written: ${applied.join(', ')}.`));
    return exitCodeOf(run, { requireVerified });
  } finally {
    client.close();
  }
};

/** The request with `last` replaced by the run of its project that is meant. */
async function resolved(request: RunRequest, client: BackendClient): Promise<RunRequest> {
  if (request.continues !== LAST) return request;
  const runId = await lastAnswered(client, request.workspace);
  if (runId === undefined) throw new UsageError(`No run of ${request.workspace ?? 'this folder'} is over, so there is none to continue from.`);
  return { ...request, continues: runId };
}

/** Says before the run what may run the tests, where none are found: without them the answer stays unchecked. */
async function tellLikelyTests({ workspace, testCommand, testRunner }: RunRequest, client: BackendClient, terminal: Terminal): Promise<void> {
  if (workspace === undefined || testCommand !== undefined || testRunner !== undefined) return;
  const { found, likely } = await client.request('tests/find', { workspace });
  if (found.length > 0) return;
  const above = likely.length > 0 ? '' : await aboveText(workspace, (folder) => client.request('tests/find', { workspace: folder }));
  terminal.say(printable(`No test command was found in ${workspace}, so the answer stays unchecked.${likelyText(likely, '--test-command')}${above}`));
}

class NoWorkerError extends Error {
  override readonly name = 'NoWorkerError';
}

/** Fails early instead of starting a run that cannot succeed. */
async function requireWorker(client: BackendClient): Promise<void> {
  const { workers } = await client.request('pool/get', {});
  if (workers.length > 0) return;
  throw new NoWorkerError('There is no worker yet who could answer: add one with "conductor worker add ID", or have a model of this machine ' +
    'answer with "conductor model choose MODEL". "conductor demo" shows how it goes without one.');
}
