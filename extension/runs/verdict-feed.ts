import type { RunSummary } from '../../backend/protocol/methods.ts';
import { answerOf } from '../../backend/protocol/run-snapshot.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import type { RunList } from './run-list.ts';
import { Signal } from '../common/signal.ts';

/** What the tests of a folder said last. */
export interface JudgedRun {
  readonly folder: string;
  readonly runId: string;
  readonly question: string;
  readonly verdict: Verdict;
  /** False where this window has told it before, as before a reload. */
  readonly isNew: boolean;
}

export interface VerdictFeedOptions {
  readonly connection: Pick<BackendConnection, 'request'>;
  readonly list: Pick<RunList, 'changed' | 'runs'>;
  readonly folders: () => readonly string[];
  /** Which runs were told, by folder; outlives a reload of the window. */
  readonly memory: { get(): Readonly<Record<string, string>>; set(told: Readonly<Record<string, string>>): void };
  readonly log: (line: string) => void;
}

/**
 * Tells of each folder's last judged run, whoever asked the question: this window with its panel open or closed, another one, the command
 * line, or somebody while no window was open.
 */
export class VerdictFeed {
  readonly judged = new Signal<JudgedRun>();
  readonly #options: VerdictFeedOptions;
  /** By folder, also while it is being fetched. */
  readonly #last = new Map<string, string>();

  constructor(options: VerdictFeedOptions) {
    this.#options = options;
    options.list.changed.on(() => this.#look());
  }

  #look(): void {
    const { list, folders, log } = this.#options;
    for (const folder of folders()) {
      const run = lastJudged(list.runs, folder);
      if (!run || this.#last.get(folder) === run.runId) continue;
      this.#last.set(folder, run.runId);
      this.#tell(folder, run).catch((error: unknown) => {
        // The list changes again with the next connection.
        if (this.#last.get(folder) === run.runId) this.#last.delete(folder);
        log(`The verdict of run ${run.runId} could not be had: ${String(error)}`);
      });
    }
  }

  async #tell(folder: string, { runId, question }: RunSummary): Promise<void> {
    const { connection, memory } = this.#options;
    const { run } = await connection.request('run/get', { runId });
    const verdict = answerOf(run)?.round.verdict;
    if (!verdict || verdict.tests.length === 0 || this.#last.get(folder) !== runId) return;
    const told = memory.get();
    if (told[folder] !== runId) memory.set({ ...told, [folder]: runId });
    this.judged.emit({ folder, runId, question, verdict, isNew: told[folder] !== runId });
  }
}

/** Of the runs about a folder whose answer tests have judged, the one that ended last. */
function lastJudged(runs: readonly RunSummary[], folder: string): RunSummary | undefined {
  return runs
    .filter(({ workspace, outcome }) => workspace === folder && (outcome === 'verified' || outcome === 'not-verified'))
    .reduce<RunSummary | undefined>((last, run) => (last && last.updatedAt >= run.updatedAt ? last : run), undefined);
}
