import type { Pool } from '../../backend/protocol/methods.ts';
import type {
  AppliedAnswer, ApplyOutcome, BackendStatus, ContextPreview, PanelState, PoolSummary, QuestionDraft, ShownView, Verification,
} from '../../backend/protocol/panel-messages.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { localModelsOf } from '../workers/local-models-of.ts';
import { seesPictures } from '../../backend/protocol/pictures.ts';
import type { PoolStore } from '../workers/pool-store.ts';
import type { ModelStates } from '../workers/model-states.ts';
import type { RunList } from '../runs/run-list.ts';
import type { LocalFirstState } from '../runs/local-first.ts';
import type { RunStore } from '../runs/run-store.ts';
import { Signal } from '../common/signal.ts';
import type { LearningOffer } from '../training/learning-offer.ts';
import type { TrainingDetails } from '../training/training-details.ts';
import { isUnderWay, type Trainings } from '../training/trainings.ts';

export interface PanelStateOptions {
  readonly connection: BackendConnection;
  readonly poolStore: PoolStore;
  readonly runs: RunStore;
  readonly list: RunList;
  readonly trainings: Trainings;
  readonly trainingDetails: Pick<TrainingDetails, 'changed' | 'tasks' | 'rollout'>;
  readonly models: ModelStates;
  readonly localFirst: Pick<LocalFirstState, 'changed' | 'state'>;
  readonly learning: Pick<LearningOffer, 'changed' | 'state'>;
  readonly isTrusted: () => boolean;
  /** The window's open folders, as absolute paths. */
  readonly folders: () => readonly string[];
  readonly undoable: () => AppliedAnswer | undefined;
  /** Localised texts, passed in so that this module does not depend on VS Code. */
  readonly stoppedMessage: string;
}

/**
 * The complete state of the panel, in one message, so that a page can be restored after it was hidden or reloaded. State that the backend
 * does not own (a draft, a refusal) is kept here only.
 */
export class PanelStateSource {
  readonly changed = new Signal<void>();
  readonly #options: PanelStateOptions;
  #draft: QuestionDraft | undefined;
  #applied: ApplyOutcome | undefined;
  #problem: string | undefined;
  #verification: Verification | undefined;
  #lastVerification = 0;
  /** True while the user writes a new question: the open run stays open but is not shown. An open training hides it, too. */
  #asking = false;

  constructor(options: PanelStateOptions) {
    this.#options = options;
    const { connection, poolStore, runs, list, trainings, trainingDetails, models, localFirst, learning } = options;
    localFirst.changed.on(() => this.changed.emit());
    learning.changed.on(() => this.changed.emit());
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
    const { poolStore: { pool }, list, trainings, models, localFirst, learning, isTrusted } = this.#options;
    const view = this.#view();
    const run = view.kind === 'run' ? view.run : undefined;
    return {
      view,
      models: localModelsOf({ run, pool, statusOf: (model) => models.of(model) }),
      runs: list.runs,
      trainings: trainings.list,
      ...(pool && { pool: summaryOf(pool) }),
      ...(localFirst.state && { localFirst: localFirst.state }),
      ...(learning.state && !trainings.list.some(isUnderWay) && { learning: learning.state }),
      backend: this.#backendStatus(),
      trusted: isTrusted(),
      ...(this.#problem !== undefined && { problem: this.#problem }),
    };
  }

  get draft(): QuestionDraft | undefined {
    return this.#draft;
  }

  /** Switches to the page for a new question. The run or the training continues. `question` pre-fills the text box. */
  ask(question?: string): void {
    this.#asking = true;
    this.#verification = undefined;
    this.#options.trainings.close();
    this.#set({ draft: question === undefined ? undefined : { question } });
  }

  /** Stores a question with the preview of its context, or with the reason why there is none. */
  showDraft(question: string, shown: { preview: ContextPreview } | { problem: string }): void {
    this.#set({ draft: { question, ...shown } });
  }

  /** Shows the check of the user's own changes, until something else is opened. */
  showVerification(verification: Verification): void {
    const isKnown = this.#verification?.id === verification.id;
    // One that was left is not shown again because it ends.
    if (!isKnown && verification.id <= this.#lastVerification) return;
    this.#lastVerification = verification.id;
    this.#verification = verification;
    this.changed.emit();
  }

  /** Shows the open run again and clears earlier messages. */
  showRun(): void {
    this.#asking = false;
    this.#verification = undefined;
    this.#options.trainings.close();
    this.#set({});
  }

  /** Clears earlier messages because a training was opened. */
  showTraining(): void {
    this.#verification = undefined;
    this.#set({});
  }

  showApplied(outcome: ApplyOutcome): void {
    this.#set({ draft: this.#draft, applied: outcome });
  }

  /** Sets the reason why the last command was refused. */
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

  /** An open training hides the open run, and so does a new question. */
  #view(): ShownView {
    const { runs: { run }, trainings, trainingDetails, folders, undoable } = this.#options;
    if (this.#verification) return { kind: 'verification', verification: this.#verification };
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
  const { planner } = pool;
  return {
    ...(planner && { conductor: planner.worker.id, choice: planner.choice }),
    workers: pool.workers.map(({ worker, ready, reason }) => ({
      id: worker.id,
      model: worker.model,
      simulated: worker.simulated,
      enabled: worker.enabled,
      ready,
      ...(reason !== undefined && { reason }),
      ...(seesPictures(worker) && { seesPictures: true }),
    })),
  };
}
