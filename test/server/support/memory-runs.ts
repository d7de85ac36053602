import type { RunSummary } from '../../../backend/protocol/methods.ts';
import type { RunEvent, RunText, StoredEvent } from '../../../backend/protocol/run-events.ts';
import { runRequestSchema, type RunRequest } from '../../../backend/protocol/run-request.ts';
import { snapshotOf } from '../../../backend/protocol/fold-run.ts';
import type { RunSnapshot } from '../../../backend/protocol/run-snapshot.ts';
import { budgetSchema } from '../../../backend/protocol/worker-config.ts';
import { RunNotFoundError } from '../../../backend/solve/errors.ts';
import type { RawPlan } from '../../../backend/workflow/validate-plan.ts';
import type { WorkEstimate } from '../../../backend/protocol/work-estimate.ts';
import type { ContextPreview, FailedBeforeDecision, PlanApproval, PlanRefusal, RunListener, RunQuestions, RunService } from '../../../backend/solve/run-service.ts';

/** Runs whose events a test writes itself: what the server does with them is the same as with real ones. */
export class MemoryRuns implements RunService {
  readonly started: RunRequest[] = [];
  /** What `previewContext` does; a test replaces it. */
  preview: (signal: AbortSignal) => Promise<ContextPreview> = () =>
    Promise.resolve({ pieces: [], leftOut: [], tokens: 0, text: '', testCommand: null });
  /** Called once, before and after the next snapshot is read. */
  aroundSnapshot: { before?: () => void; after?: () => void } = {};
  /** As in the real ones, a run that waits does not count. */
  activeRuns = 0;
  readonly questions: RunQuestions = {
    export: () => Promise.resolve({ text: '', fileName: 'run.md' }),
    prompt: () => [],
    edits: () => Promise.resolve({ edits: [], refused: [] }),
    stepEdits: () => Promise.resolve({ edits: [], refused: [] }),
    previewContext: (_request, signal) => this.preview(signal),
    localFirst: (workspace) => Promise.resolve({ worker: 'llama', ...(workspace !== undefined && { record: { tried: 2, verified: 1 } }) }),
    findTests: () => Promise.resolve([]),
    likelyTests: () => Promise.resolve([{ command: 'make test', from: 'Makefile' }]),
    runnerOf: () => Promise.resolve(undefined),
  };
  readonly #events = new Map<string, StoredEvent[]>();
  readonly #listeners = new Set<RunListener>();

  get listenerCount(): number {
    return this.#listeners.size;
  }

  begin(runId: string, question = 'Why?'): void {
    this.emit(runId, {
      type: 'run.accepted', kind: 'solve', request: runRequestSchema.parse({ question }), pool: [],
      policy: { kind: 'endpoint', model: 'planner', promptVersion: '1' }, budget: budgetSchema.parse({}),
    });
  }

  emit(runId: string, event: RunEvent): StoredEvent {
    const events = this.#events.get(runId) ?? [];
    const stored: StoredEvent = { runId, seq: events.length + 1, at: events.length, event };
    this.#events.set(runId, [...events, stored]);
    for (const listener of [...this.#listeners]) listener.onEvent(stored);
    return stored;
  }

  say(text: RunText): void {
    for (const listener of [...this.#listeners]) listener.onText(text);
  }

  change(runId: string, state: RunSummary['state']): void {
    const summary: RunSummary = {
      runId, kind: 'solve', question: 'Why?', state, acceptedAt: 0, updatedAt: 0, usd: 0, unpricedTokens: 0, simulated: false,
    };
    for (const listener of [...this.#listeners]) listener.onChanged?.(summary);
  }

  start(request: RunRequest): Promise<string> {
    this.started.push(request);
    const runId = `run-${this.started.length}`;
    this.begin(runId, request.question);
    return Promise.resolve(runId);
  }

  converse(): Promise<string> {
    return Promise.reject(new Error('not needed here'));
  }

  demonstrate(): Promise<string> {
    return this.start(runRequestSchema.parse({ question: 'What is shown?' }));
  }

  readonly decisions: [runId: string, decision: PlanApproval | PlanRefusal | FailedBeforeDecision][] = [];

  estimatePlan(runId: string, _round: number, { modelIds }: RawPlan): WorkEstimate {
    this.events(runId, 0);
    const range = { low: 0, high: 1 };
    return { usd: range, tokens: range, steps: modelIds.map(() => ({ from: 'limits', steps: 0, usd: range, tokens: range })), unpriced: [], left: { usd: 1, tokens: 1 } };
  }

  approvePlan(runId: string, decision: PlanApproval): void {
    this.events(runId, 0);
    this.decisions.push([runId, decision]);
  }

  replan(runId: string, decision: PlanRefusal): void {
    this.events(runId, 0);
    this.decisions.push([runId, decision]);
  }

  decideFailedBefore(runId: string, decision: FailedBeforeDecision): void {
    this.events(runId, 0);
    this.decisions.push([runId, decision]);
  }

  /** By project. */
  readonly leftOut = new Map<string, string[]>();

  leftOutTests(workspace: string): string[] {
    return this.leftOut.get(workspace) ?? [];
  }

  takeBackLeftOut(workspace: string, tests = this.leftOutTests(workspace)): number {
    const before = this.leftOutTests(workspace);
    const left = before.filter((test) => !tests.includes(test));
    this.leftOut.set(workspace, left);
    return before.length - left.length;
  }

  cancel(runId: string): void {
    this.events(runId, 0);
    this.emit(runId, { type: 'run.cancelled' });
  }

  remove(runId: string): Promise<void> {
    this.events(runId, 0);
    this.#events.delete(runId);
    for (const listener of [...this.#listeners]) listener.onRemoved(runId);
    return Promise.resolve();
  }

  stopStep(runId: string, place: { round: number; step: number }): void {
    this.events(runId, 0);
    this.emit(runId, { type: 'step.stopped', ...place });
  }

  tellStep(runId: string, place: { round: number; step: number }, text: string): void {
    this.events(runId, 0);
    this.emit(runId, { type: 'step.told', ...place, text });
  }

  resume(): Promise<void> {
    return Promise.resolve();
  }

  snapshot(runId: string): RunSnapshot {
    const { before, after } = this.aroundSnapshot;
    this.aroundSnapshot = {};
    before?.();
    const snapshot = snapshotOf(this.events(runId, 0));
    after?.();
    return snapshot;
  }

  events(runId: string, afterSeq: number): StoredEvent[] {
    const events = this.#events.get(runId);
    if (!events) throw new RunNotFoundError(runId);
    return events.filter(({ seq }) => seq > afterSeq);
  }

  list(): RunSummary[] {
    return [];
  }

  retry(): Promise<string> {
    return Promise.reject(new Error('not needed here'));
  }

  again(): Promise<string> {
    return Promise.reject(new Error('not needed here'));
  }

  listen(listener: RunListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
