import type * as vscode from 'vscode';
import { Signal } from '../common/signal.ts';

const PREFIX = 'conductor.key.';

/** The workers' keys in VS Code's SecretStorage, by the name in `workers.json`. They are stored nowhere else on disk. */
export class KeyStore {
  /** The key of this name was stored, replaced or removed, in this window or another. */
  readonly changed = new Signal<string>();
  readonly #secrets: vscode.SecretStorage;

  constructor(secrets: vscode.SecretStorage) {
    this.#secrets = secrets;
  }

  /** Forwards changes until the subscription is disposed. */
  watch(): vscode.Disposable {
    return this.#secrets.onDidChange(({ key }) => {
      if (key.startsWith(PREFIX)) this.changed.emit(key.slice(PREFIX.length));
    });
  }

  async get(name: string): Promise<string | undefined> {
    return this.#secrets.get(PREFIX + name);
  }

  async set(name: string, value: string): Promise<void> {
    await this.#secrets.store(PREFIX + name, value);
  }

  async remove(name: string): Promise<void> {
    await this.#secrets.delete(PREFIX + name);
  }
}
