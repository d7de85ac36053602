import type { Clients, Confirmation } from '../../backend/solve/clients.ts';

/** Clients as the backend would have them: keys that may come later, and a person who agrees or not. */
export class TestClients implements Clients {
  keys = new Map<string, string>();
  /** Whether anybody is connected who could be asked. */
  connected = true;
  agrees: boolean | undefined = true;
  readonly questions: string[] = [];
  /** The runs that asked. */
  readonly asking: (string | undefined)[] = [];
  readonly remedies: (string | undefined)[] = [];
  /** A client that is asked for a key and never says a word. */
  silent = false;
  readonly #waiting = new Set<() => void>();

  get waiting(): number {
    return this.#waiting.size;
  }

  async secret(name: string): Promise<string | null | undefined> {
    if (this.silent) return new Promise(() => {});
    return this.keys.get(name) ?? (this.connected ? null : undefined);
  }
  async confirm({ detail, runId, remedy }: Confirmation): Promise<boolean | undefined> {
    this.questions.push(detail);
    this.asking.push(runId);
    this.remedies.push(remedy);
    return this.connected ? this.agrees : undefined;
  }
  async model(): Promise<never> {
    throw new Error('no client offers models');
  }
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(resolve);
      signal.addEventListener('abort', () => {
        this.#waiting.delete(resolve);
        reject(signal.reason as Error);
      });
    });
  }
  change(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
