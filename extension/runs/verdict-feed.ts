import type { RunSummary } from '../../backend/protocol/methods.ts';
import { answerOf } from '../../backend/protocol/run-facts.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import type { RunList } from './run-list.ts';
import { Signal } from '../common/signal.ts';

/** The last test verdict of a folder. */
export interface JudgedRun {
  readonly folder: string;
  readonly runId: string;
  readonly question: string;
  readonly verdict: Verdict;
  /** False if this window has already reported it, for example before a reload. */
  readonly isNew: boolean;
}

export interface VerdictFeedOptions {
  readonly connection: Pick<BackendConnection, 'request'>;
  readonly list: Pick<RunList, 'changed' | 'runs'>;
  readonly folders: () => readonly string[];
  /** The reported runs by folder; survives a reload of the window. */
  readonly memory: { get(): Readonly<Record<string, string>>; set(reported: Readonly<Record<string, string>>): void };
  readonly log: (line: string) => void;
}

/**
 * Reports each folder's last judged run, no matter where it was started: in this window, in another one, on the command line, or while no
 * window was open.
 */
export class VerdictFeed {
  readonly judged = new Signal<JudgedRun>();
  readonly #options: VerdictFeedOptions;
  /** Run ids by folder, including runs that are still being fetched. */
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
        // The list changes again on the next connection.
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
    const reported = memory.get();
    if (reported[folder] !== runId) memory.set({ ...reported, [folder]: runId });
    this.judged.emit({ folder, runId, question, verdict, isNew: reported[folder] !== runId });
  }
}

const JUDGED: ReadonlySet<string> = new Set(['verified', 'passes', 'not-verified'] satisfies RunSummary['outcome'][]);

/** The last ended run of the folder whose answer was judged by tests. */
function lastJudged(runs: readonly RunSummary[], folder: string): RunSummary | undefined {
  return runs
    .filter(({ workspace, outcome }) => workspace === folder && outcome !== undefined && JUDGED.has(outcome))
    .reduce<RunSummary | undefined>((last, run) => (last && last.updatedAt >= run.updatedAt ? last : run), undefined);
}
