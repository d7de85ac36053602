import { isDemonstration } from '../../backend/protocol/demonstration-runs.ts';
import { LISTED_RUNS } from '../../backend/protocol/listed-runs.ts';
import type { RunSummary } from '../../backend/protocol/methods.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { Signal } from '../common/signal.ts';

/** Of those that are looked for: as many as the backend gives. */
const MAX_FOUND = 500;

/** The past runs of the window's folders and demonstrations, newest first; without a folder, those of every project. */
export class RunList {
  readonly changed = new Signal<void>();
  readonly #connection: BackendConnection;
  readonly #folders: () => readonly string[];
  #runs: readonly RunSummary[] = [];

  constructor({ connection, folders }: { connection: BackendConnection; folders: () => readonly string[] }) {
    this.#connection = connection;
    this.#folders = folders;
    connection.on('run/changed', (run) => this.#put(run));
    connection.on('run/removed', ({ runId }) => this.#drop(runId));
    // The list is not what anybody waits for: where it cannot be had, the connection's own state says why.
    connection.connected.on(() => void this.refresh().catch(() => undefined));
  }

  get runs(): readonly RunSummary[] {
    return this.#runs;
  }

  /** Reads the list again. */
  async refresh(): Promise<readonly RunSummary[]> {
    this.#runs = await this.#read({ limit: LISTED_RUNS });
    this.changed.emit();
    return this.#runs;
  }

  /** Past runs whose question holds the text, whatever its case; however long ago, unlike those of the list. */
  find(search: string): Promise<readonly RunSummary[]> {
    return this.#read({ limit: MAX_FOUND, ...(search !== '' && { search }) });
  }

  async #read(what: { readonly limit: number; readonly search?: string }): Promise<readonly RunSummary[]> {
    const folders = this.#folders();
    // Demonstrations are looked for among the newest of all: they are what people see first.
    const [everywhere, ...lists] = await Promise.all([undefined, ...folders].map((workspace) =>
      this.#connection.request('run/list', { ...what, ...(workspace !== undefined && { workspace }) })));
    const shown = (everywhere?.runs ?? []).filter((run) => folders.length === 0 || (isDemonstration(run) && !folders.includes(run.workspace ?? '')));
    return [...shown, ...lists.flatMap(({ runs }) => runs)].sort(newestFirst).slice(0, what.limit);
  }

  #put(run: RunSummary): void {
    const folders = this.#folders();
    const ours = folders.length === 0 || isDemonstration(run) || (run.workspace !== undefined && folders.includes(run.workspace));
    if (run.kind !== 'solve' || !ours) return;
    this.#runs = [run, ...this.#runs.filter(({ runId }) => runId !== run.runId)].sort(newestFirst).slice(0, LISTED_RUNS);
    this.changed.emit();
  }

  #drop(runId: string): void {
    this.#runs = this.#runs.filter((run) => run.runId !== runId);
    this.changed.emit();
  }
}

function newestFirst(a: RunSummary, b: RunSummary): number {
  return b.acceptedAt - a.acceptedAt;
}
