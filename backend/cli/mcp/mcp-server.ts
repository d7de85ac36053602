import { fileURLToPath } from 'node:url';
import { McpServer, type ServerContext } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { VERSION } from '../../protocol/product-version.ts';
import { MAX_PICTURE_BYTES, MAX_PICTURES } from '../../protocol/pictures.ts';
import { runRequestSchema, type RunRequest } from '../../protocol/run-request.ts';
import { heldPlan } from '../../protocol/held-plan.ts';
import { isOver, type RunSnapshot } from '../../protocol/run-snapshot.ts';
import type { Verdict } from '../../protocol/verdict.ts';
import { costWords, estimateReasons } from '../../protocol/work-estimate-words.ts';
import { clippedAnswer, redTests, runsText, runText, verdictText } from '../../protocol/tool-texts.ts';
import type { BackendClient } from '../../protocol/client/backend-client.ts';
import type { CommandContext } from '../command.ts';
import { Consent } from '../consent.ts';
import { followRun } from '../follow-run.ts';
import { judgeChange, type VerifyResult } from '../judge-change.ts';
import { RunPrinter } from '../run-printer.ts';
import { runResult } from '../run-result.ts';
import { printable, type Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { allowedFolder, ToolError } from './allowed-folder.ts';
import { askedPictures } from './asked-pictures.ts';
import type { KeyPage } from './key-page.ts';
import { InputNeeded, neededKeys, obtainKeys } from './needed-keys.ts';

/*
 * Conductor as an MCP server: a thin client of the backend, as the command line is one. Nothing here changes a file. Solving and planning
 * cost money, within the limits of workers.json; the other tools are free.
 */

export interface McpServerParts extends Pick<CommandContext, 'connect' | 'openVerification'> {
  /** Absolute. Folders of projects; the client's own roots are allowed as well. */
  readonly workspaces: readonly string[];
  /** Where a person enters keys that the environment lacks. */
  readonly keys: KeyPage;
}

/** The longest `data:` address of a picture: its base64, and what stands before it. */
const MAX_ADDRESS = Math.ceil(MAX_PICTURE_BYTES / 3) * 4 + 64;

const workspace = z.string().max(4_096).optional().describe('The project\'s folder. By default the first folder of this server.');
const tests = z.array(z.string().min(1)).max(200).optional().describe('Ids of tests that must pass, instead of those that failed before');
const runId = z.string().min(1).max(64).describe('The id of a run');

const asked = {
  question: z.string().min(1).max(32_000).describe('The question, or what is to be changed and why. Name files, functions and errors: Conductor finds the code itself.'),
  workspace,
  files: z.array(z.string().min(1).max(4_096)).max(64).optional().describe('Paths in the project that the question is about'),
  pictures: z.array(z.string().min(1).max(MAX_ADDRESS)).max(MAX_PICTURES).optional()
    .describe('Screenshots or sketches: paths in the project, or "data:image/…;base64,…". PNG, JPEG, WebP or GIF. Workers that take pictures see them.'),
  tests,
  rounds: z.number().int().min(1).max(5).optional().describe('The most rounds: a plan, and revisions while tests fail. By default 2.'),
  maxUsd: z.number().positive().optional().describe('The most dollars that this run may cost'),
  workers: z.array(z.string().max(64)).min(1).max(32).optional().describe('Ids of the workers that may take part. By default all that are ready.'),
};

/* Claude Code and Codex show their model the fields alone, other clients the text alone: each says everything. */

const runFields = z.object({ runId: z.string(), state: z.string(), outcome: z.string().nullable(), verified: z.boolean(), message: z.string().nullable() });
const verdictFields = z.object({
  outcome: z.enum(['verified', 'passes', 'failed', 'refused', 'infrastructure']), verified: z.boolean(), reason: z.string(), command: z.string().nullable(),
  failing: z.array(z.object({ id: z.string(), before: z.string(), after: z.string(), message: z.string().nullable() })),
  notes: z.array(z.string()), remedy: z.string().nullable(),
});
const solvedFields = runFields.extend({
  simulated: z.boolean(), answer: z.string().nullable(), edits: z.array(z.object({ path: z.string(), diff: z.string() })), verdict: verdictFields.nullable(), usd: z.number().nullable(),
});

const FREE = { readOnlyHint: true, openWorldHint: false } as const;
/** Changes no file, but costs money and sends code to the user's workers. */
const PAID = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true } as const;

/** A server for one connection. */
export function conductorServer(parts: McpServerParts): McpServer {
  const server = new McpServer({ name: 'conductor', title: 'Conductor', version: VERSION }, { instructions: INSTRUCTIONS });
  const folderOf = async (named: string | undefined): Promise<string> => allowedFolder(named, [...(await rootsOf(server)), ...parts.workspaces]);

  server.registerTool('verify', {
    title: 'Verify a change by the project\'s tests',
    description: 'Judges the uncommitted changes of a Git project, or a diff, by the project\'s own tests, in a sandbox: verified, passes, failed or refused, with the tests that fail. Costs no money.',
    inputSchema: z.object({
      workspace,
      diff: z.string().max(5_000_000).optional().describe('A unified diff to judge instead of the uncommitted changes'),
      command: z.string().min(1).max(4_000).optional().describe('The command that runs the tests. By default it is found in the last commit.'),
      tests,
    }),
    outputSchema: verdictFields,
    annotations: FREE,
  }, async ({ workspace: named, diff, command, tests }, context) => answered(async () => {
    const progress = progressOf(context);
    const result = await judgeChange({
      workspace: await folderOf(named), diff, command, targets: tests, sandboxed: true, openVerification: parts.openVerification, signal: context.mcpReq.signal, onProgress: progress,
    });
    return { text: verdictText(result), structured: verdictFieldsOf(result) };
  }));

  server.registerTool('solve', {
    title: 'Solve with several models, judged by tests',
    description: 'Asks Conductor: a plan across the user\'s own models answers the question or writes the change, and the project\'s tests judge it. Returns the answer, the change as a diff and the verdict; '
      + 'no file is changed. Costs money within the user\'s limits, and takes minutes. With "runId" instead of "question" it lets a plan of "plan" run, or resumes a run that stopped.',
    inputSchema: z.object({ ...asked, question: asked.question.optional(), runId: runId.optional() }),
    outputSchema: solvedFields,
    annotations: PAID,
  }, async ({ runId: begun, ...question }, context) => answered(async () => {
    if ((begun === undefined) === (question.question === undefined)) throw new ToolError('Give either a question or the id of a run.');
    const run = await onRun({ ...parts, server, context, workers: question.workers }, async (client) => {
      if (begun === undefined) return (await client.request('run/start', { request: await requestOf(question, folderOf) })).runId;
      const { run: known } = await client.request('run/get', { runId: begun });
      await folderOf(known.request.workspace);
      const plan = heldPlan(known);
      if (plan) await client.request('run/approvePlan', { runId: begun, ...plan });
      else if (isOver(known.state) && known.state !== 'completed') await client.request('run/resume', { runId: begun });
      return begun;
    });
    return solved(run);
  }));

  server.registerTool('plan', {
    title: 'Plan, and see what it would cost',
    description: 'Asks Conductor for its plan alone: who does which step, with what instruction, and what the steps are expected to cost. Only the planning is paid for. The plan waits; "solve" with its runId lets it run.',
    inputSchema: z.object(asked),
    outputSchema: runFields.extend({ steps: z.array(z.object({ worker: z.string(), subtask: z.string(), reads: z.array(z.number()) })), expected: z.string().nullable() }),
    annotations: PAID,
  }, async (question, context) => answered(async () => {
    const request = { ...(await requestOf(question, folderOf)), reviewPlan: 'always' as const };
    const run = await onRun({ ...parts, server, context, workers: question.workers }, async (client) => (await client.request('run/start', { request })).runId);
    const round = run.rounds.at(-1);
    if (!heldPlan(run) || !round) return { ...solved(run), structured: { ...fieldsOf(run), steps: [], expected: null } };
    const steps = round.steps.map(({ worker, subtask, reads }) => ({ worker: run.pool[worker]?.id ?? '?', subtask, reads: [...reads] }));
    const { estimate } = round.review ?? {};
    const cost = estimate ? `Expected cost: ${costWords(estimate)}. ${estimateReasons(estimate).join(' ')}` : null;
    const lines = steps.map((step, index) => `${index}. ${step.worker}: ${step.subtask}${step.reads.length > 0 ? ` (reads ${step.reads.join(', ')})` : ''}`);
    return { text: [`The plan of run ${run.runId}, which waits:`, ...lines, cost ?? ''].join('\n'), structured: { ...fieldsOf(run), steps, expected: cost } };
  }));

  server.registerTool('runs', {
    title: 'List runs',
    description: 'The latest runs of a project: question, state, outcome and cost.',
    inputSchema: z.object({ workspace, search: z.string().max(200).optional(), limit: z.number().int().min(1).max(100).optional() }),
    outputSchema: z.object({ runs: z.array(z.object({ runId: z.string(), question: z.string(), state: z.string(), outcome: z.string().nullable(), usd: z.number() })) }),
    annotations: FREE,
  }, async ({ workspace: named, search, limit = 20 }) => answered(async () => {
    const folder = await folderOf(named);
    const client = await parts.connect();
    try {
      const { runs } = await client.request('run/list', { workspace: folder, limit, ...(search !== undefined && { search }) });
      const listed = runs.map((run) => ({ runId: run.runId, question: run.question, state: run.state, outcome: run.outcome ?? null, usd: run.usd }));
      return { text: runsText(runs), structured: { runs: listed } };
    } finally {
      client.close();
    }
  }));

  server.registerTool('run', {
    title: 'Show a run',
    description: 'One run: its answer, its change as a diff, what the tests said, and its cost.',
    inputSchema: z.object({ runId }),
    outputSchema: solvedFields,
    annotations: FREE,
  }, async ({ runId: id }) => answered(async () => {
    const client = await parts.connect();
    try {
      const { run } = await client.request('run/get', { runId: id });
      await folderOf(run.request.workspace);
      return solved(run);
    } finally {
      client.close();
    }
  }));
  return server;
}

const INSTRUCTIONS = 'Conductor answers coding questions by a plan across the user\'s own models and lets the project\'s tests judge. Call "verify" after you changed code, before you say that it works. '
  + 'Call "solve" for a bug or change that you could not get right, or where a second opinion that is tested is worth money; "plan" shows first what that would cost.';

interface Answer {
  readonly text: string;
  readonly structured: Record<string, unknown>;
}

/** The answer as a tool's result. What users of the command line would read of a fault, the model reads here. */
async function answered(answer: () => Promise<Answer>) {
  try {
    const { text, structured } = await answer();
    return { content: [{ type: 'text' as const, text: printable(text) }], structuredContent: structured };
  } catch (error) {
    if (error instanceof InputNeeded) return error.result;
    const message = error instanceof Error ? error.message : String(error);
    const text = error instanceof UsageError ? message.replaceAll(/--(\w+)/g, '"$1"') : message;
    return { content: [{ type: 'text' as const, text }], isError: true };
  }
}

type Asked = Partial<z.infer<z.ZodObject<typeof asked>>>;

async function requestOf(
  { question, workspace: named, files = [], pictures = [], tests: mustPass = [], rounds, maxUsd, workers }: Asked, folderOf: (named: string | undefined) => Promise<string>,
): Promise<RunRequest> {
  const folder = await folderOf(named);
  return runRequestSchema.parse({
    question, workspace: folder, ...(pictures.length > 0 && { pictures: await askedPictures(pictures, folder) }), focus: { files: files.map((path) => ({ path })) }, ...(mustPass.length > 0 && { tests: mustPass }), rounds, workers,
    ...(maxUsd !== undefined && { budget: { runUsd: maxUsd } }),
  });
}

/** Begins or takes up a run, and follows it until it is over or its plan waits. A call that is cancelled, or whose client is gone, cancels its run. */
async function onRun(
  { server, context, workers: named, ...parts }: McpServerParts & { readonly server: McpServer; readonly context: ServerContext; readonly workers: readonly string[] | undefined },
  begin: (client: BackendClient) => Promise<string>,
): Promise<RunSnapshot> {
  const progress = progressOf(context);
  const plain = (_format: unknown, text: string): string => text;
  const terminal: Terminal = { result: () => {}, write: () => {}, say: progress, style: plain, resultStyle: plain };
  // Nobody can be asked here whether tests may run without a sandbox.
  const consent = new Consent(terminal, { json: true });
  const open = (): Promise<BackendClient> => parts.connect({ confirm: consent.confirm, key: parts.keys.get });
  const client = await open();
  try {
    const pool = await client.request('pool/get', {});
    if (pool.workers.length === 0) throw new ToolError('There is no worker yet who could answer. The user can add one with "conductor worker add ID", or in VS Code with "Conductor: Add Worker".');
    await obtainKeys(neededKeys(pool, named), parts.keys, context, server);
    const id = await begin(client);
    consent.runId = id;
    return await followRun({
      runId: id, client, connect: open, terminal, printer: new RunPrinter(terminal), interrupted: context.mcpReq.signal,
    });
  } finally {
    client.close();
  }
}

function solved(run: RunSnapshot): Answer {
  const { answer, verdict, simulated, spent } = runResult(run);
  const structured: z.infer<typeof solvedFields> = {
    ...fieldsOf(run), simulated, answer: answer && clippedAnswer(answer.text), edits: (answer?.edits ?? []).map(({ path, diff }) => ({ path, diff })), verdict: verdict && verdictFieldsOf(verdict), usd: spent.usd,
  };
  return { text: runText(run), structured };
}

function fieldsOf(run: RunSnapshot): z.infer<typeof runFields> {
  return { runId: run.runId, state: run.state, outcome: run.outcome ?? null, verified: run.outcome === 'verified', message: run.message ?? null };
}

function verdictFieldsOf({ outcome, verified, reason, command, tests, notes, remedy }: Verdict | VerifyResult): z.infer<typeof verdictFields> {
  return { outcome, verified, reason, command, failing: redTests(tests), notes: [...notes], remedy: remedy ?? null };
}

/** Tells the client of progress, a line at a time, if it asked for that. */
function progressOf({ mcpReq }: ServerContext): (line: string) => void {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  return (line) => {
    const message = line.replace(/\s+/g, ' ').trim();
    if (progressToken === undefined || message === '') return;
    progress += 1;
    // A client that is gone is told nothing.
    mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => {});
  };
}

/** The folders that the client has open, where it says so. */
async function rootsOf({ server }: McpServer): Promise<string[]> {
  if (!server.getClientCapabilities()?.roots) return [];
  const { roots } = await server.listRoots().catch(() => ({ roots: [] }));
  return roots.flatMap(({ uri }) => (uri.startsWith('file:///') ? [fileURLToPath(uri)] : []));
}
