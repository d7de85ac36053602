import { createHash } from 'node:crypto';
import * as z from 'zod';
import { handsWords } from '../hands/hands-words.ts';
import { fileChangeSchema } from '../protocol/file-change.ts';
import { runRequestSchema } from '../protocol/run-request.ts';
import { NOTHING_SPENT, type StepView } from '../protocol/run-snapshot.ts';
import { addUsage, NO_USAGE } from '../protocol/token-counts.ts';
import { usageSchema } from '../protocol/usage.ts';
import { callResultSchema, toolCallSchema, verbatimTurnSchema } from '../protocol/tool-calls.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { Checker } from '../solve/checker.ts';
import type { Beginning, Turn } from '../solve/step-work.ts';
import { workWithHands } from '../solve/work-with-hands.ts';
import { parsePatch } from '../verify/patch/parse-patch.ts';
import type { WorkerRequest } from '../workers/call-worker.ts';
import type { Message, ModelReply } from '../workers/model.ts';
import type { Step } from '../workflow/plan.ts';
import type { Spent, TaskHands, WorkerReply } from './run-plan.ts';

export interface HandsReply extends WorkerReply, Pick<ModelReply, 'toolCalls' | 'verbatim'> {}

/** One paid answer of a worker in a conversation. */
export type AskInTurns = (worker: WorkerConfig, request: WorkerRequest, sample: number, signal: AbortSignal) => Promise<HandsReply>;

/** Keeps what steps saw and changed, so that an evaluation that goes on sees the same and pays for it once. */
export interface TurnMemory {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
}

export interface HandsStep {
  readonly step: Step;
  /** Who does it. */
  readonly worker: WorkerConfig & { readonly hands: NonNullable<WorkerConfig['hands']> };
  readonly question: string;
  readonly pool: readonly WorkerConfig[];
  /** Of the steps that are over, by their index: their outputs and changes. */
  readonly views: ReadonlyMap<number, StepView>;
  readonly sample: number;
  readonly signal: AbortSignal;
  /** The task as the worker is told it. @param hands how it works, and what its copy begins with */
  readonly messages: (hands: { readonly how: string; readonly begins?: string | undefined }) => readonly Message[];
  /** Called for each turn, since a step that fails has cost something, too. Turns that are kept are told as one. */
  readonly onSpent: (spent: Spent) => void;
}

export interface DoneWithHands {
  readonly view: StepView;
  readonly output: string;
  readonly served: boolean;
}

const turnSchema = z.object({
  reply: z.string(), observation: z.string(), calls: z.array(toolCallSchema).optional(), verbatim: verbatimTurnSchema.optional(),
  results: z.array(callResultSchema).optional(), changes: z.array(fileChangeSchema).optional(), isLast: z.literal(true).optional(),
});
const keptSchema = z.object({
  begun: z.object({ text: z.string(), changes: z.array(fileChangeSchema) }).optional(), turns: z.array(turnSchema),
  /** For these turns, whoever paid: a step costs the same whether it is done at once, goes on, or was done before. */
  spent: z.object({ costUsd: z.number(), usage: usageSchema, seconds: z.number() }),
});

/** Does a step in turns, as Solve does: the worker looks, edits and runs commands in a copy of the task's project before it answers. */
export async function stepWithHands(task: TaskHands, { step, worker, question, pool, views, sample, signal, messages, onSpent }: HandsStep, ask: AskInTurns, memory: TurnMemory | undefined): Promise<DoneWithHands> {
  const { id, provider, model, baseUrl, simulated, hands, weights } = worker;
  const how = handsWords(hands);
  const key = `hands:${createHash('sha256').update(JSON.stringify([task.name, id, provider, model, simulated ? undefined : baseUrl, hands, sample, messages({ how }), ...(weights === undefined ? [] : [{ weights }])])).digest('hex')}`;
  const kept = keptIn(memory, key);
  const turns: Turn[] = [...kept?.turns ?? []];
  const work = workWithHands({ copies: task.copies, checker: CHECKER }, {
    run: {
      request: runRequestSchema.parse({ question, workspace: task.folder, testCommand: null }), pool: [...pool], contexts: [],
      rounds: [{ index: 0, kept: false, rejections: [], steps: Array.from({ length: step.index }, (_, index) => views.get(index) ?? viewOf({ ...step, index, reads: [] }, '')) }],
    },
    round: 0, step: { ...step, readsPreviousRound: false },
    files: { begins: async () => [], base: (base) => ({ base }), read: async (folder, use) => await use(folder), readWorkspace: async (folder, use) => await use(folder) },
  });
  try {
    const begun: Beginning | undefined = (await work.begin?.({ begun: kept?.begun, turns }, signal)) ?? kept?.begun;
    const told = messages({ how, begins: begun?.text });
    let spent: Spent = kept?.spent ?? { costUsd: 0, usage: NO_USAGE, seconds: 0 };
    onSpent(spent);
    let served = true;
    for (;;) {
      let reply: HandsReply;
      try {
        reply = await ask(worker, work.request(told, turns), sample, signal);
      } catch (error) {
        if (signal.aborted || !work.shorten?.(error)) throw error;
        continue;
      }
      onSpent(reply);
      spent = { costUsd: spent.costUsd + reply.costUsd, usage: addUsage(spent.usage, reply.usage), seconds: spent.seconds + reply.seconds };
      served &&= reply.served ?? false;
      const { text, toolCalls = [], verbatim } = reply;
      if (work.isOutput({ ...reply, model, finishReason: 'stop' }, turns)) {
        const { output = text, changes } = work.output?.({ ...reply, model, finishReason: 'stop' }) ?? {};
        return { output, served, view: { ...viewOf(step, output), ...(changes && { changes }), ...(begun && { begun }) } };
      }
      const { text: observation, results, changes, isLast } = await work.observe(text, signal, turns, toolCalls);
      turns.push({
        reply: text, observation, ...(toolCalls.length > 0 && { calls: toolCalls }), ...(verbatim && { verbatim }), ...(results && { results }), ...(changes && { changes }), ...(isLast && { isLast }),
      });
      memory?.set(key, JSON.stringify({ ...(begun && { begun }), turns, spent }));
    }
  } finally {
    await work.end?.();
  }
}

/** Turns of a usual step, and the tokens of what is seen in each. With them a step costs about four times as much as in one call (docs/hands.md). */
const USUAL = { turns: 6, seen: 'x '.repeat(600) } as const;

/** The calls of a usual step with hands, for an estimate. */
export async function rehearsedTurns(messages: readonly Message[], ask: (messages: readonly Message[]) => Promise<string>): Promise<string> {
  const conversation = [...messages];
  let text = '';
  for (let turn = 0; turn < USUAL.turns; turn += 1) {
    text = await ask(conversation);
    conversation.push({ role: 'assistant', content: text }, { role: 'user', content: `${turn}\n${USUAL.seen}` });
  }
  return text;
}

/** Of a step that is over, for those that read it. */
export function viewOf({ index, worker, subtask, reads, readsPreviousRound }: Step, output: string): StepView {
  return { index, worker, subtask, reads, readsPreviousRound, state: 'completed', output, spent: NOTHING_SPENT };
}

/** Undefined if there is nothing, or only something in the form of another version. */
function keptIn(memory: TurnMemory | undefined, key: string): z.infer<typeof keptSchema> | undefined {
  const value = memory?.get(key);
  if (value === undefined) return undefined;
  try {
    return keptSchema.safeParse(JSON.parse(value)).data;
  } catch {
    return undefined;
  }
}

/** Reads changes that a worker without hands wrote. The tests of such a task are hidden, and judge at its end alone. */
const CHECKER: Checker = {
  findTestCommands: async () => [],
  runnerOf: async () => undefined,
  sandboxAvailability: async () => ({ available: false }),
  parsePatch: (answer, folder, shown) => parsePatch(answer, folder, { candidates: shown }),
  verify: () => Promise.reject(new Error('The tests of such a task are not run by a step.')),
};
