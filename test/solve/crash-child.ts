import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { ContextGatherer } from '../../backend/context/gather-context.ts';
import { rgPath } from '@vscode/ripgrep';
import { StepCopies } from '../../backend/hands/step-copies.ts';
import { Journal } from '../../backend/journal/journal.ts';
import { holderName } from '../../backend/journal/leases.ts';
import { isProcessAlive } from '../../backend/protocol/client/process-alive.ts';
import type { RunEvent } from '../../backend/protocol/run-events.ts';
import { runRequestSchema } from '../../backend/protocol/run-request.ts';
import { isOver } from '../../backend/protocol/run-snapshot.ts';
import { RunManager } from '../../backend/solve/run-manager.ts';
import { CopyPool } from '../../backend/verify/copies/copy-pool.ts';
import { MemoryBaseRunCache } from '../../backend/verify/judge/base-run-cache.ts';
import { chooseRunner } from '../../backend/verify/runners/choose-runner.ts';
import { findTestCommands } from '../../backend/verify/runners/find-tests.ts';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';
import { RunFolders } from '../../backend/verify/files/run-folder.ts';
import { Sandbox } from '../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../backend/verify/verify.ts';
import { agentRunner } from '../../backend/wiring/agents.ts';
import { servedModels } from '../../backend/wiring/served-models.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { loadWorkersFile } from '../../backend/workers/workers-file.ts';
import { NO_ADAPTER } from '../support/no-adapter.ts';

/*
 * A backend without its socket, for test/solve/crash-matrix.test.ts: starts a run, or resumes the one there is, and kills itself as
 * SIGKILL does at a given event, named by its number or its type: `after:N` once it is committed, `written:N` when it is written and not committed
 * yet, `before:N` when it is about to be written. With `keep:FOLDER` it lives, and keeps there, for each moment, what it would have left on disk. Ends when the run is over.
 * Its argument is its only life, as JSON. Without one it takes a life with each message, one after another, and answers with what went wrong, or null:
 * a process takes longer to start than a run to be resumed.
 */

/** What one backend does from its start to its end. */
export interface Life {
  readonly home: string;
  readonly workspace: string;
  readonly question: string;
  readonly kill?: string;
  /** `RUN:ROUND:STEP`: asks that step again instead. */
  readonly retried?: string;
  readonly more?: More;
}

/** Fields of the request, and what somebody does meanwhile. A request that `continues` from the run there is begins once. */
export interface More {
  readonly request?: { readonly continues?: string; readonly [field: string]: unknown };
  /** This person looks at each plan: wants another one of the first, and gives the last step of the second to another worker. */
  readonly review?: boolean;
  /** The worker of the first step is told that. */
  readonly tell?: string;
  /** The second step is stopped at its second turn. */
  readonly stop?: boolean;
}

async function live({ home, workspace, question, kill = '', retried = '', more = {} }: Life): Promise<void> {
  const { request, review, tell, stop } = more;
  const { continues } = request ?? {};
  const [moment, at = ''] = kill.split(':');
  const isKillPoint = (seq: number, { type }: RunEvent): boolean => at === String(seq) || at === type;
  /** Keeps the journal's files as they are, and of the tests' copies the folders that are there: whoever comes next only removes them. */
  const keep = (name: string): void => {
    if (moment !== 'keep') return;
    const kept = path.join(at, name);
    mkdirSync(kept, { recursive: true });
    for (const file of readdirSync(home).filter((file) => file.startsWith('journal.sqlite'))) copyFileSync(path.join(home, file), path.join(kept, file));
    const copies = path.join(home, 'verify');
    for (const copy of existsSync(copies) ? readdirSync(copies) : []) mkdirSync(path.join(kept, 'verify', copy), { recursive: true });
  };
  const die = (): never => {
    process.kill(process.pid, 'SIGKILL');
    throw new Error('not reached');
  };

  const real = Journal.open(path.join(home, 'journal.sqlite'));
  /** Of each run the number of its last event; who reads the journal has all committed that was written. */
  const last = new Map<string, number>();
  const journal = new Proxy(real, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'append') return value.bind(target) as unknown;
      return (...args: Parameters<Journal['append']>) => {
        const next = (last.get(args[0]) ?? real.read(args[0]).length) + 1;
        const isHere = args[1].some((event, index) => isKillPoint(next + index, event));
        if (moment === 'before' && isHere) die();
        keep(`before-${next}`);
        const stored = target.append(...args);
        if (moment === 'written' && isHere) die();
        last.set(args[0], stored.at(-1)?.seq ?? next - 1);
        return stored;
      };
    },
  });

  const folders = new RunFolders(path.join(home, 'verify'), isProcessAlive);
  await folders.sweep();
  const sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: process.env.HOME ?? '/', folders });
  const copies = new CopyPool({ folders });
  // On a busy machine the tests take so long that those which a change reaches run first. The verdict says so, and the next plan is another one.
  const verifier = new Verifier({ sandbox, folders, copies, baseRuns: new MemoryBaseRunCache(), paysToRunFirst: () => false });
  const context = new ContextGatherer({ ripgrepPath: rgPath });
  const prices = await loadPrices();

  const isRestart = real.list({ limit: 1 }).length > 0;
  let asked = 0;
  const clientConnects = Promise.withResolvers<void>();

  const runs = new RunManager({
    journal,
    clients: {
      // The key is there when the run begins. After a restart nobody is when it is first needed, and then a client comes back.
      secret: async () => (isRestart && ++asked === 1 ? undefined : 'key'),
      confirm: async () => true,
      model: () => Promise.reject(new Error('no client')),
      changed: () => clientConnects.promise,
    },
    caller: new WorkerCaller({
      limits: new ProviderLimits(), prices, servedModels: servedModels(async (model) => model),
      runAgent: agentRunner({ sandbox, folders, searchPath: process.env.PATH ?? '', homeFolder: path.join(home, 'person') }),
    }),
    checker: {
      findTestCommands,
      runnerOf: async (test, folder) => (await chooseRunner(test, folder))?.runner.name,
      sandboxAvailability: () => sandbox.availability(),
      // What a change of an earlier answer is built on.
      ...(continues !== undefined && { hold: (folder: string, signal: AbortSignal) => verifier.hold(folder, signal) }),
      parsePatch: (answer, base, candidates) => parsePatch(answer, base, { candidates }),
      verify: (request) => verifier.verify(request),
      testBase: (request) => verifier.testBase(request),
      tryTests: (request) => verifier.tryTests(request),
      placesOf: (ids, request) => verifier.placesOf(ids, request),
    },
    gatherContext: (request) => context.gather(request),
    supply: (request) => context.supply(request),
    hands: { copies: new StepCopies({ copies, sandbox, folders, ripgrepPath: rgPath, verifier }) },
    // Whether a plan is told of failing tests must not depend on the load of the machine: simulated models would answer otherwise.
    baseWaitMs: 600_000,
    loadWorkers: () => loadWorkersFile(path.join(home, 'workers.json')),
    priced: (worker) => worker,
    adapterVersion: NO_ADAPTER,
    holder: holderName(),
    log: (line) => console.error(line),
  });

  const done = Promise.withResolvers<void>();

  function decide(round: number): void {
    const [run] = runs.list({ limit: 1 }).map(({ runId }) => runs.snapshot(runId));
    const { plan, planAttempt, discarded } = run?.rounds[round] ?? {};
    if (!run || !plan || !planAttempt) throw new Error('No plan waits.');
    const shown = { round, attemptId: planAttempt.attemptId };
    if (!discarded) runs.replan(run.runId, { ...shown, wish: 'Let nobody look first.' });
    else runs.approvePlan(run.runId, { ...shown, plan: { ...plan, modelIds: [...plan.modelIds.slice(0, -1), 1] }, forTraining: false });
  }

  runs.listen({
    onEvent: ({ runId, seq, event }) => {
      if (moment === 'after' && isKillPoint(seq, event)) die();
      keep(`after-${seq}`);
      if (event.type === 'run.waiting') setImmediate(clientConnects.resolve);
      if (event.type === 'plan.held') setImmediate(() => decide(event.round));
      if (event.type === 'verdict.held') setImmediate(() => runs.decideFailedBefore(runId, { round: event.round, failedBefore: 'leave-out' }));
    },
    onText: () => {},
    onChanged: ({ state }) => isOver(state) && done.resolve(),
    onRemoved: () => {},
  });
  runs.resumeUnfinished();
  const [latest] = runs.list({ limit: 1 });
  const [runId, round, step] = retried.split(':');
  if (runId && latest?.runId === runId) await runs.retry(runId, { round: Number(round), step: Number(step) });
  else if (!latest || latest.runId === continues) await runs.start(runRequestSchema.parse({ question, workspace, ...(review && { reviewPlan: 'always' }), ...request }));
  else if (isOver(latest.state)) done.resolve();

  /** What somebody does with the steps, once: whoever comes back after a crash sees what was done already. */
  function steer(): void {
    const run = runs.list({ limit: 1 }).map((one) => runs.snapshot(one.runId))[0];
    const [first, second] = run?.rounds[0]?.steps ?? [];
    if (!run || isOver(run.state)) return;
    const wasTold = first?.told !== undefined || first?.turns?.some(({ told }) => told);
    if (tell !== undefined && first?.state === 'running' && !wasTold) runs.tellStep(run.runId, { round: 0, step: 0 }, tell);
    const isAsked = second?.state === 'running' && second.turns?.length === 1 && second.turns[0]?.observation !== undefined && second.attempt?.ended === false;
    if (stop && isAsked && !second.stopped) runs.stopStep(run.runId, { round: 0, step: 1 });
  }

  // Nothing else may be left to do, and the process must not end for that reason.
  const isSteered = tell !== undefined || stop === true;
  const alive = setInterval(isSteered ? steer : () => {}, isSteered ? 50 : 60_000);
  await done.promise;
  clearInterval(alive);
  await runs.close();
  await copies.close();
  real.close();
}

const [only] = process.argv.slice(2);
if (only !== undefined) {
  await live(JSON.parse(only) as Life);
  process.disconnect?.();
} else {
  process.on('message', (life: Life) => {
    void live(life).then(() => null, (error: unknown) => String(error)).then((problem) => process.send?.(problem));
  });
}
