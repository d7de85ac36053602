import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { onTestFinished } from 'vitest';
import { ContextGatherer } from '../../../backend/context/gather-context.ts';
import { Journal } from '../../../backend/journal/journal.ts';
import { holderName } from '../../../backend/journal/leases.ts';
import { runRequestSchema, type RunRequestInput } from '../../../backend/protocol/run-request.ts';
import { isOver, type RunSnapshot } from '../../../backend/protocol/run-snapshot.ts';
import { workersFileSchema } from '../../../backend/protocol/worker-config.ts';
import { RunManager } from '../../../backend/solve/run-manager.ts';
import { parsePatch } from '../../../backend/verify/patch/parse-patch.ts';
import { chooseRunner } from '../../../backend/verify/runners/choose-runner.ts';
import { findTestCommands } from '../../../backend/verify/runners/find-tests.ts';
import { WorkerCaller } from '../../../backend/workers/call-worker.ts';
import { loadPrices } from '../../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../../backend/workers/limits/provider-limits.ts';
import { PROJECT, withHands } from '../../hands/setup.ts';
import { NO_ADAPTER } from '../../support/no-adapter.ts';
import { ScriptedServer, type ScriptedAnswer, type ScriptedRequest } from '../../support/scripted-server.ts';

/* Runs that continue from each other: real workers' wire, a real journal, real copies, the real sandbox and real verdicts. */

type Reply = ScriptedAnswer | ((request: ScriptedRequest) => ScriptedAnswer);

export interface Conversation {
  readonly workspace: string;
  readonly server: ScriptedServer;
  readonly journal: Journal;
  manager: RunManager;
  /** Asks and waits for the end. `replies` are those of the one step's worker, in their order. */
  ask(question: string, replies: readonly Reply[], request?: Partial<RunRequestInput>): Promise<RunSnapshot>;
  ended(runId: string): Promise<RunSnapshot>;
  /** Sets what the worker replies next. */
  script(replies: readonly Reply[]): void;
  /** Ends this process's work on runs, and opens another manager on the same journal. */
  reopen(): Promise<void>;
}

const PLAN = 'model_id = [0]\nsubtasks = ["Do what is asked."]\naccess_list = [[]]';

/** @param hands how the only worker works */
export async function conversation({ hands, files = PROJECT }: { hands?: 'fenced'; files?: Readonly<Record<string, string>> } = {}): Promise<Conversation> {
  const { workspace, home, copies, verifier } = await withHands(files);
  let replies: Reply[] = [];
  const server = await ScriptedServer.start((request) => {
    if (request.model === 'planner') return PLAN;
    const next = replies.shift() ?? 'I have nothing more to say.';
    return typeof next === 'function' ? next(request) : next;
  });
  onTestFinished(() => server.close());
  const journal = Journal.open(path.join(home, 'journal.sqlite'));
  onTestFinished(() => journal.close());
  const context = new ContextGatherer({ ripgrepPath: rgPath });
  const prices = await loadPrices();
  const worker = { provider: 'openai-compatible', baseUrl: server.baseUrl, maxOutputTokens: 500 };
  const open = (): RunManager => new RunManager({
    journal,
    clients: { secret: async () => 'key', confirm: async () => false, model: () => Promise.reject(new Error('no client')), changed: () => new Promise(() => {}) },
    caller: new WorkerCaller({ limits: new ProviderLimits(), prices }),
    checker: {
      findTestCommands,
      runnerOf: async (test, folder) => (await chooseRunner(test, folder))?.runner.name,
      sandboxAvailability: async () => ({ available: true }),
      hold: (folder, signal) => verifier.hold(folder, signal),
      parsePatch: (answer, base, candidates, asks) => parsePatch(answer, base, { candidates, ...asks }),
      verify: (request) => verifier.verify(request),
      testBase: (request) => verifier.testBase(request),
    },
    gatherContext: (request) => context.gather(request),
    supply: (request) => context.supply(request),
    hands: { copies },
    baseWaitMs: 600_000,
    loadWorkers: async () => workersFileSchema.parse({
      version: 1, conductor: 'planner',
      workers: [{ ...worker, id: 'w', model: 'w', ...(hands && { hands }) }, { ...worker, id: 'planner', model: 'planner', enabled: false }],
    }),
    priced: (one) => one,
    adapterVersion: NO_ADAPTER,
    holder: holderName(),
    log: (line) => console.error(line),
  });
  const talk: Conversation = {
    workspace, server, journal, manager: open(),
    script: (next) => void (replies = [...next]),
    ask: async (question, next, request = {}) => {
      talk.script(next);
      return talk.ended(await talk.manager.start(runRequestSchema.parse({ question, workspace, rounds: 1, ...request })));
    },
    ended: (runId) => {
      const { manager } = talk;
      const { promise, resolve } = Promise.withResolvers<RunSnapshot>();
      const look = (): void => {
        if (isOver(manager.snapshot(runId).state)) resolve(manager.snapshot(runId));
      };
      const stop = manager.listen({ onEvent: () => queueMicrotask(look), onText: () => {}, onChanged: () => {}, onRemoved: () => {} });
      look();
      return promise.finally(stop);
    },
    reopen: async () => {
      await talk.manager.close();
      talk.manager = open();
    },
  };
  onTestFinished(() => talk.manager.close());
  return talk;
}
