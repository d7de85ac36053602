import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rgPath } from '@vscode/ripgrep';
import { onTestFinished } from 'vitest';
import { ContextGatherer } from '../../backend/context/gather-context.ts';
import { Journal } from '../../backend/journal/journal.ts';
import { holderName } from '../../backend/journal/leases.ts';
import type { StoredEvent } from '../../backend/protocol/run-events.ts';
import { runRequestSchema } from '../../backend/protocol/run-request.ts';
import { isOver, type RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { workersFileSchema, type AgentConfig } from '../../backend/protocol/worker-config.ts';
import { RunManager } from '../../backend/solve/run-manager.ts';
import type { HandsParts } from '../../backend/solve/work-with-hands.ts';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';
import { chooseRunner } from '../../backend/verify/runners/choose-runner.ts';
import { findTestCommands } from '../../backend/verify/runners/find-tests.ts';
import { agentRunner } from '../../backend/wiring/agents.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { withHands, PROJECT } from '../hands/setup.ts';
import { NO_ADAPTER } from '../support/no-adapter.ts';
import { ScriptedServer, type ScriptedAnswer, type ScriptedRequest } from '../support/scripted-server.ts';

/* Runs whose workers have hands: real workers' wire, a real journal, real copies, the real sandbox and real verdicts. */

const FAKE_AGENT = fileURLToPath(new URL('../workers/acp/fake-agent.ts', import.meta.url));

export const fence = (info: string, body = ''): string => `\`\`\`${info}\n${body}${body === '' ? '' : '\n'}\`\`\``;
export const edit = (file: string, search: string, replace: string): string => fence(`edit ${file}`, `<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE`);
export const plan = (steps: readonly (readonly [number, string, readonly number[]])[]): string =>
  `model_id = [${steps.map(([worker]) => worker).join(', ')}]\nsubtasks = [${steps.map(([, text]) => JSON.stringify(text)).join(', ')}]\n` +
  `access_list = [${steps.map(([, , reads]) => `[${reads.join(', ')}]`).join(', ')}]`;

type Replies = Readonly<Record<string, readonly (ScriptedAnswer | ((request: ScriptedRequest) => ScriptedAnswer))[]>>;

interface TeamOptions {
  readonly files?: Readonly<Record<string, string>>;
  readonly limits?: HandsParts['limits'];
  /** Simulated agents by their id: what each does, and settings of its worker. */
  readonly agents?: Readonly<Record<string, { readonly mode: string; readonly settings?: Partial<AgentConfig> }>>;
  /** Called at each event of a run, with who manages it: what a person does meanwhile. */
  readonly onEvent?: (stored: StoredEvent, manager: RunManager) => void;
}

export interface HandsTeam {
  readonly server: ScriptedServer;
  readonly workspace: string;
  /** A process on the journal; the run ends with it when it is closed. */
  open(): RunManager;
  /** Waits for the end of a run. */
  ended(runId: string): Promise<void>;
}

/** @param replies by worker, in their order; those with hands are called `hands…` or, with tool calls, `tools…` */
export async function handsTeam(replies: Replies, { files = PROJECT, limits = {}, agents = {}, onEvent }: TeamOptions = {}): Promise<HandsTeam> {
  const { workspace, home, copies, verifier, sandbox, folders } = await withHands(files);
  const agentHome = path.join(home, 'person');
  await mkdir(agentHome);
  await copyFile(FAKE_AGENT, path.join(agentHome, 'fake-agent.ts'));
  const runAgent = agentRunner({ sandbox, folders, searchPath: process.env['PATH'] ?? '', homeFolder: agentHome });
  const asked = new Map<string, number>();
  const server = await ScriptedServer.start((request) => {
    const count = asked.get(request.model) ?? 0;
    asked.set(request.model, count + 1);
    const answer = replies[request.model]?.[count] ?? 'I have nothing more to say.';
    return typeof answer === 'function' ? answer(request) : answer;
  });
  onTestFinished(() => server.close());
  const journal = Journal.open(path.join(home, 'journal.sqlite'));
  onTestFinished(() => journal.close());
  const context = new ContextGatherer({ ripgrepPath: rgPath });
  const prices = await loadPrices();
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const endOf = (runId: string): PromiseWithResolvers<void> => {
    const end = ends.get(runId) ?? Promise.withResolvers<void>();
    ends.set(runId, end);
    return end;
  };
  const open = (): RunManager => {
    const manager = new RunManager({
      journal,
      clients: { secret: async () => 'key', confirm: async () => false, model: () => Promise.reject(new Error('no client')), changed: () => new Promise(() => {}) },
      caller: new WorkerCaller({ limits: new ProviderLimits(), prices, runAgent }),
      checker: {
        findTestCommands,
        runnerOf: async (test, folder) => (await chooseRunner(test, folder))?.runner.name,
        sandboxAvailability: async () => ({ available: true }),
        parsePatch: (answer, base, candidates, asks) => parsePatch(answer, base, { candidates, ...asks }),
        verify: (request) => verifier.verify(request),
        testBase: (request) => verifier.testBase(request),
      tryTests: (request) => verifier.tryTests(request),
      },
      gatherContext: (request) => context.gather(request),
      supply: (request) => context.supply(request),
      hands: { copies, limits },
      baseWaitMs: 600_000,
      loadWorkers: async () => workersFileSchema.parse({
        version: 1, conductor: 'planner',
        workers: [...Object.keys(replies), ...Object.keys(agents)].map((id) => agents[id] ? agentWorker(id, agents[id]) : ({
          id, provider: 'openai-compatible', model: id, baseUrl: server.baseUrl, enabled: id !== 'planner', maxOutputTokens: 500, ...(id.startsWith('hands') && { hands: 'fenced' }), ...(id.startsWith('tools') && { hands: 'tools' }),
        })),
      }),
      priced: (worker) => worker,
      adapterVersion: NO_ADAPTER,
      holder: holderName(),
      log: (line) => console.error(line),
    });
    manager.listen({
      onEvent: (stored) => onEvent?.(stored, manager), onText: () => {},
      onChanged: ({ state, runId }) => {
        if (!isOver(state)) return;
        endOf(runId).resolve();
        ends.delete(runId);
      },
      onRemoved: () => {},
    });
    return manager;
  };
  return { server, workspace, open, ended: (runId) => endOf(runId).promise };
}

const agentWorker = (id: string, { mode, settings }: { readonly mode: string; readonly settings?: Partial<AgentConfig> }): object => ({
  id, provider: 'acp', model: 'default',
  agent: {
    command: ['/bin/sh', '-c', 'exec "$FAKE_NODE" "$HOME/fake-agent.ts" "$@"', 'fake-agent', ...mode.split(' ')],
    home: ['fake-agent.ts'], env: { FAKE_NODE: process.execPath }, minutes: 1, stepTokens: 5_000, ...settings,
  },
});

export const askTeam = (manager: RunManager, workspace: string): Promise<string> =>
  manager.start(runRequestSchema.parse({ question: 'area() of shapes is wrong, please mend it.', workspace, rounds: 1 }));

/** One run, from its question to its end. */
export async function solve(replies: Replies, options: TeamOptions = {}): Promise<HandsTeam & { readonly run: RunSnapshot; readonly manager: RunManager }> {
  const team = await handsTeam(replies, options);
  const manager = team.open();
  const runId = await askTeam(manager, team.workspace);
  if (!isOver(manager.snapshot(runId).state)) await team.ended(runId);
  const run = manager.snapshot(runId);
  await manager.close();
  return { ...team, run, manager };
}
