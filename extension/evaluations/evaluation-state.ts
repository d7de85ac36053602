import type { EvaluationCommand, EvaluationPageMessage, EvaluationPageState, SampleFilter } from '../../backend/protocol/evaluation-page.ts';
import type { EvaluationBudget } from '../../backend/protocol/evaluation-request.ts';
import { messageOf, type BackendConnection } from '../common/backend-connection.ts';

export interface EvaluationStateOptions {
  readonly connection: Pick<BackendConnection, 'request' | 'on' | 'connected'>;
  readonly folder: string;
  readonly post: (message: EvaluationPageMessage) => void;
  /** @returns undefined if the user cancels */
  readonly askBudget: (budget: EvaluationBudget) => Promise<EvaluationBudget | undefined>;
  readonly showResults: (file: string) => void;
  /** @param usd what its answers have cost */
  readonly isRemovalMeant: (usd: number) => Promise<boolean>;
  /** The evaluation was removed, here or elsewhere. */
  readonly gone: () => void;
  readonly report: (error: unknown) => void;
}

/** Listed at a time. */
const PAGE = 50;
/** As the protocol has it, without its schemas. */
const MOST_LISTED = 500;

/** What the page of one evaluation shows. It is read again after every change; all changes during a read lead to one more read. */
export class EvaluationState {
  readonly #options: EvaluationStateOptions;
  readonly #stopListening: readonly (() => void)[];
  #state: EvaluationPageState = { filter: { contestant: '', outcome: 'all' }, samples: [], allSamples: 0 };
  #listed = PAGE;
  #reading: Promise<void> | undefined;
  #isStale = false;
  #isDisposed = false;

  constructor(options: EvaluationStateOptions) {
    this.#options = options;
    const { connection, folder, gone } = options;
    this.#stopListening = [
      connection.on('evaluation/changed', (changed) => {
        if (changed.folder === folder) this.refresh();
      }),
      connection.on('evaluation/removed', (removed) => {
        if (removed.folder === folder) gone();
      }),
      // It may have gone on with another backend.
      connection.connected.on(() => this.refresh()),
    ];
  }

  get state(): EvaluationPageState {
    return this.#state;
  }

  refresh(): void {
    this.#isStale = true;
    this.#reading ??= this.#readAll().catch(this.#options.report).finally(() => { this.#reading = undefined; });
  }

  async act(command: EvaluationCommand): Promise<void> {
    const { connection, folder, askBudget, showResults, isRemovalMeant } = this.#options;
    try {
      switch (command.type) {
        case 'ready': return this.#post();
        case 'refresh': return this.refresh();
        case 'filter': {
          const { contestant, outcome } = this.#state.filter;
          return this.#filter({ contestant: command.contestant ?? contestant, outcome: command.outcome ?? outcome });
        }
        case 'more':
          this.#listed = Math.min(MOST_LISTED, this.#listed + PAGE);
          return this.refresh();
        case 'open': return await this.#open(command);
        case 'close': return this.#change({ opened: undefined });
        case 'stop': return void await connection.request('evaluation/stop', { folder });
        case 'resume': {
          const { evaluation } = this.#state;
          const budget = evaluation && (await askBudget(evaluation.budget));
          if (budget) await connection.request('evaluation/resume', { folder, budget });
          return this.refresh();
        }
        case 'remove': {
          if (await isRemovalMeant(this.#state.evaluation?.spentUsd ?? 0)) await connection.request('evaluation/remove', { folder });
          return;
        }
        case 'openResults': {
          const page = this.#state.evaluation?.page;
          if (page !== undefined) showResults(page);
        }
      }
    } catch (error) {
      this.#change({ problem: messageOf(error) });
    }
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const stop of this.#stopListening) stop();
  }

  async #readAll(): Promise<void> {
    while (this.#isStale && !this.#isDisposed) {
      this.#isStale = false;
      await this.#read();
    }
  }

  async #read(): Promise<void> {
    const { connection, folder } = this.#options;
    const { filter } = this.#state;
    try {
      const evaluation = await connection.request('evaluation/get', { folder });
      const { samples, all } = await connection.request('evaluation/samples', {
        folder, offset: 0, limit: this.#listed,
        ...(filter.contestant !== '' && { contestant: filter.contestant }), ...(filter.outcome !== 'all' && { verified: filter.outcome === 'right' }),
      });
      if (filter !== this.#state.filter) this.#isStale = true;
      else this.#change({ evaluation, samples, allSamples: all, problem: undefined });
    } catch (error) {
      this.#change({ problem: messageOf(error) });
    }
  }

  #filter(filter: SampleFilter): void {
    this.#listed = PAGE;
    this.#change({ filter, opened: undefined });
    this.refresh();
  }

  async #open({ contestant, task, seed }: Extract<EvaluationCommand, { readonly type: 'open' }>): Promise<void> {
    const { connection, folder } = this.#options;
    const opened = { contestant, task, seed };
    this.#change({ opened });
    const sample = await connection.request('evaluation/sample', { folder, ...opened });
    if (this.#state.opened === opened) this.#change({ opened: { ...opened, sample } });
  }

  #change(change: { readonly [K in keyof EvaluationPageState]?: EvaluationPageState[K] | undefined }): void {
    const changed = Object.entries({ ...this.#state, ...change }).filter(([, value]) => value !== undefined);
    this.#state = Object.fromEntries(changed) as unknown as EvaluationPageState;
    this.#post();
  }

  #post(): void {
    if (!this.#isDisposed) this.#options.post({ type: 'state', state: this.#state });
  }
}
