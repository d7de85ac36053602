import type { Pool } from '../../backend/protocol/methods.ts';
import type {
  AppliedAnswer, ApplyOutcome, BackendStatus, ContextPreview, PanelState, PoolSummary, QuestionDraft, ShownView,
} from '../../backend/protocol/panel-messages.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { localModelsOf, plannerOf } from '../workers/local-models-of.ts';
import type { PoolStore } from '../workers/pool-store.ts';
import type { ModelStates } from '../workers/model-states.ts';
import type { RunList } from '../runs/run-list.ts';
import type { RunStore } from '../runs/run-store.ts';
import { Signal } from '../common/signal.ts';
import type { TrainingDetails } from '../training/training-details.ts';
import type { Trainings } from '../training/trainings.ts';

export interface PanelStateOptions {
  readonly connection: BackendConnection;
  readonly poolStore: PoolStore;
  readonly runs: RunStore;
  readonly list: RunList;
  readonly trainings: Trainings;
  readonly trainingDetails: Pick<TrainingDetails, 'changed' | 'tasks' | 'rollout'>;
  readonly models: ModelStates;
  readonly isTrusted: () => boolean;
  /** Those that are open in the window, as absolute paths. */
  readonly folders: () => readonly string[];
  readonly undoable: () => AppliedAnswer | undefined;
  /** Words for people; the window's language is VS Code's business. */
  readonly stoppedMessage: string;
}

/**
 * Everything the panel shows, gathered in one place, so that a page that was hidden or reloaded is told all of it in one message.
 * What is not the backend's (a draft, a refusal) lives here and nowhere else.
 */
export class PanelStateSource {
  readonly changed = new Signal<void>();
  readonly #options: PanelStateOptions;
  #draft: QuestionDraft | undefined;
  #applied: ApplyOutcome | undefined;
  #problem: string | undefined;
  /** The person went on to a new question: the open run stays open and is not on show. A training that is open hides it, too. */
  #asking = false;

  constructor(options: PanelStateOptions) {
    this.#options = options;
    const { connection, poolStore, runs, list, trainings, trainingDetails, models } = options;
    poolStore.changed.on(() => this.changed.emit());
    runs.changed.on(() => this.changed.emit());
    runs.problem.on((problem) => this.refuse(problem));
    list.changed.on(() => this.changed.emit());
    trainings.changed.on(() => this.changed.emit());
    trainingDetails.changed.on(() => this.changed.emit());
    trainings.problem.on((problem) => this.refuse(problem));
    models.changed.on(() => this.changed.emit());
    connection.stateChanged.on(() => this.changed.emit());
  }

  get state(): PanelState {
    const { poolStore: { pool }, list, trainings, models, isTrusted } = this.#options;
    const view = this.#view();
    const run = view.kind === 'run' ? view.run : undefined;
    return {
      view,
      models: localModelsOf({ run, pool, statusOf: (model) => models.of(model) }),
      runs: list.runs,
      trainings: trainings.list,
      ...(pool && { pool: summaryOf(pool) }),
      backend: this.#backendStatus(),
      trusted: isTrusted(),
      ...(this.#problem !== undefined && { problem: this.#problem }),
    };
  }

  get draft(): QuestionDraft | undefined {
    return this.#draft;
  }

  /** Leaves the run or the training on show (it goes on) for the page that asks; `question` is one to begin with. */
  ask(question?: string): void {
    this.#asking = true;
    this.#options.trainings.close();
    this.#set({ draft: question === undefined ? undefined : { question } });
  }

  /** Keeps a question with what it would be sent with, or with why nobody can say. */
  showDraft(question: string, shown: { preview: ContextPreview } | { problem: string }): void {
    this.#set({ draft: { question, ...shown } });
  }

  /** The open run is on show again, and what was said about earlier things is gone. */
  showRun(): void {
    this.#asking = false;
    this.#options.trainings.close();
    this.#set({});
  }

  /** A training was opened: what was said about earlier things is gone. */
  showTraining(): void {
    this.#set({});
  }

  showApplied(outcome: ApplyOutcome): void {
    this.#set({ draft: this.#draft, applied: outcome });
  }

  /** Says why the last command was refused. */
  refuse(problem: string): void {
    this.#set({ draft: this.#draft, applied: this.#applied, problem });
  }

  forgetProblem(): void {
    if (this.#problem !== undefined) this.#set({ draft: this.#draft, applied: this.#applied });
  }

  #set({ draft, applied, problem }: {
    draft?: QuestionDraft | undefined; applied?: ApplyOutcome | undefined; problem?: string | undefined;
  }): void {
    this.#draft = draft;
    this.#applied = applied;
    this.#problem = problem;
    this.changed.emit();
  }

  /** The open training hides the open run, and so does a new question. */
  #view(): ShownView {
    const { runs: { run }, trainings, trainingDetails, folders, undoable } = this.#options;
    if (trainings.open) return { kind: 'training', training: trainings.open, tasks: trainingDetails.tasks, rollout: trainingDetails.rollout };
    if (!run || this.#asking || trainings.isOpen) return { kind: 'question', draft: this.#draft };
    const { workspace } = run.request;
    const isElsewhere = workspace !== undefined && !folders().includes(workspace);
    return { kind: 'run', run, ...(isElsewhere && { elsewhere: true }), applied: this.#applied, undoable: undoable() };
  }

  #backendStatus(): BackendStatus {
    const { state } = this.#options.connection;
    switch (state.kind) {
      case 'idle':
      case 'starting':
        return { state: 'starting' };
      case 'connected':
        return { state: 'connected' };
      case 'stopped':
        return { state: 'unavailable', message: this.#options.stoppedMessage };
      case 'unavailable':
        return { state: 'unavailable', message: state.message };
    }
  }
}

function summaryOf(pool: Pool): PoolSummary {
  const planner = plannerOf(pool);
  return {
    ...(planner && { conductor: planner.id }),
    workers: pool.workers.map(({ worker, ready, reason }) => ({
      id: worker.id,
      model: worker.model,
      simulated: worker.simulated,
      enabled: worker.enabled,
      ready,
      ...(reason !== undefined && { reason }),
    })),
  };
}
