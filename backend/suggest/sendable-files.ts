import { Ripgrep } from '../context/ripgrep.ts';
import { Workspace, type TextFile } from '../context/workspace.ts';

export interface SendableFilesOptions {
  /** Absolute path of ripgrep; undefined where there is none for this platform. */
  readonly ripgrepPath: string | undefined;
  readonly now?: () => number;
  readonly listingTimeoutMs?: number;
}

interface Opened {
  /** When the listing ended, successfully or not; Infinity while it runs. */
  at: number;
  readonly workspace: Promise<Workspace | undefined>;
}

/** How long a listing is reused, including a failed one. */
const BELIEVED_MS = 15_000;
/** From this age on, a new listing is made beside the request that reuses the old one, so that none has to wait while somebody types on. */
const RENEWED_MS = 8_000;
/** Longer than ripgrep's own limit for both of its lists, so that a large workspace gets as much of a list as possible. */
const LISTING_TIMEOUT_MS = 30_000;
const MAX_OPENED = 8;
const UNCHECKED = 'could not be checked against the ignore files';

/** Which files of a workspace may be sent, by the rules for the context of questions. Listings are cached between keystrokes. */
export class SendableFiles {
  readonly #ripgrep: Ripgrep;
  readonly #now: () => number;
  readonly #listingTimeoutMs: number;
  readonly #opened = new Map<string, Opened>();
  readonly #renewing = new Set<string>();
  /** When the workspace was last listed again for the sake of a file. */
  readonly #lookedFor = new Map<string, number>();

  constructor({ ripgrepPath, now = Date.now, listingTimeoutMs = LISTING_TIMEOUT_MS }: SendableFilesOptions) {
    this.#ripgrep = new Ripgrep(ripgrepPath);
    this.#now = now;
    this.#listingTimeoutMs = listingTimeoutMs;
  }

  /** Why the file is never sent, such as `ignored by .gitignore`; undefined where it may be. */
  async whyNot(folder: string, path: string): Promise<string | undefined> {
    const refusal = await this.#refusal(folder, path, BELIEVED_MS);
    const key = JSON.stringify([folder, path]);
    if (refusal === undefined || refusal === UNCHECKED || this.#now() - (this.#lookedFor.get(key) ?? 0) < BELIEVED_MS) return refusal;
    // The file may be newer than the list.
    this.#lookedFor.clear();
    this.#lookedFor.set(key, this.#now());
    return this.#refusal(folder, path, 0);
  }

  /** The folder as it was listed a moment ago; undefined where it cannot be listed. */
  async workspace(folder: string): Promise<Workspace | undefined> {
    return this.#open(folder, BELIEVED_MS).catch(() => undefined);
  }

  /** A file that may be sent, its secrets replaced; undefined for any other. */
  async read(folder: string, path: string): Promise<TextFile | undefined> {
    const workspace = await this.workspace(folder);
    const answer = await workspace?.read(path);
    if (!workspace || !answer || !('file' in answer)) return undefined;
    return workspace.listProblem === undefined || workspace.has(answer.file.path) ? answer.file : undefined;
  }

  async #refusal(folder: string, path: string, believedMs: number): Promise<string | undefined> {
    let workspace: Workspace | undefined;
    try {
      workspace = await this.#open(folder, believedMs);
    } catch {
      return UNCHECKED;
    }
    if (!workspace) return 'no such folder';
    const answer = await workspace.read(path);
    const { path: relative } = 'file' in answer ? answer.file : answer.refusal;
    // A question sends such a file, because a person reviews its context first. Nobody reviews a suggestion's.
    if (workspace.listProblem !== undefined && !workspace.has(relative)) return UNCHECKED;
    return 'refusal' in answer ? answer.refusal.reason : undefined;
  }

  #open(folder: string, believedMs: number): Promise<Workspace | undefined> {
    const known = this.#opened.get(folder);
    const age = known ? this.#now() - known.at : Infinity;
    if (!known || age >= believedMs) return this.#list(folder);
    if (age >= RENEWED_MS && !this.#renewing.has(folder)) this.#renew(folder, known);
    return known.workspace;
  }

  /** The old listing serves until the new one is there. */
  #renew(folder: string, known: Opened): void {
    this.#renewing.add(folder);
    const workspace = Workspace.open(folder, this.#ripgrep, AbortSignal.timeout(this.#listingTimeoutMs));
    const keep = (): void => {
      if (this.#opened.get(folder) === known) this.#keep(folder, { at: this.#now(), workspace });
    };
    workspace.then(keep, () => undefined).finally(() => this.#renewing.delete(folder));
  }

  #list(folder: string): Promise<Workspace | undefined> {
    // Not the request's signal: the next request needs the list, too.
    const workspace = Workspace.open(folder, this.#ripgrep, AbortSignal.timeout(this.#listingTimeoutMs));
    const opened: Opened = { at: Infinity, workspace };
    this.#keep(folder, opened);
    const done = (): void => {
      opened.at = this.#now();
    };
    workspace.then(done, done);
    return workspace;
  }

  #keep(folder: string, opened: Opened): void {
    // The last one used is the last one of the map.
    this.#opened.delete(folder);
    this.#opened.set(folder, opened);
    const [oldest] = this.#opened.keys();
    if (this.#opened.size > MAX_OPENED && oldest !== undefined) this.#opened.delete(oldest);
  }
}
