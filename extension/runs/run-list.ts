import { isDemonstration } from '../../backend/protocol/demonstration-runs.ts';
import { LISTED_RUNS } from '../../backend/protocol/listed-runs.ts';
import type { RunSummary } from '../../backend/protocol/methods.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { Signal } from '../common/signal.ts';

/** The most search results that the backend returns. */
const MAX_FOUND = 500;

/** Past runs of the window's folders and demonstrations, newest first. Without a folder, those of every project. */
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
    // A failure needs no message: the list is not awaited, and the connection's state shows the cause.
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

  /** Past runs whose question contains the text, ignoring case. Unlike the list, includes old runs. */
  find(search: string): Promise<readonly RunSummary[]> {
    return this.#read({ limit: MAX_FOUND, ...(search !== '' && { search }) });
  }

  async #read(what: { readonly limit: number; readonly search?: string }): Promise<readonly RunSummary[]> {
    const folders = this.#folders();
    // Demonstrations are looked up among the newest of all runs: new users see them first.
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
