import * as vscode from 'vscode';
import { isBundled } from '../backend/protocol/bundled-conductor.ts';
import type { Pool } from '../backend/protocol/methods.ts';
import { askKeyValue } from './ask-key-value.ts';
import type { BackendConnection } from './backend-connection.ts';
import type { KeyStore } from './keys.ts';
import type { PanelStateSource } from './panel-state.ts';
import { plainMessage } from './plain-message.ts';

export interface WorkerCommandOptions {
  readonly connection: BackendConnection;
  readonly keys: KeyStore;
  readonly panel: PanelStateSource;
}

/** The commands about workers and their keys, but for adding one. */
export class WorkerCommands {
  readonly #options: WorkerCommandOptions;
  #offering = false;

  constructor(options: WorkerCommandOptions) {
    this.#options = options;
  }

  async setKey(): Promise<void> {
    const { keys } = this.#options;
    const name = await this.#pickKey(vscode.l10n.t('Which key do you want to set?'));
    const value = name === undefined ? undefined : await askKeyValue(name, { keepable: false });
    if (name !== undefined && value !== undefined) await keys.set(name, value);
  }

  async removeKey(): Promise<void> {
    const { keys } = this.#options;
    const name = await this.#pickKey(vscode.l10n.t('Which key do you want to remove?'), { onlyStored: true });
    if (name !== undefined) await keys.remove(name);
  }

  /** Chooses whose model plans. */
  async chooseConductor(): Promise<void> {
    const { connection, panel } = this.#options;
    const pool = await connection.request('pool/get', {});
    requireWorkers(pool);
    const { bundledConductor } = pool;
    const now = vscode.l10n.t('plays the Conductor now');
    const picked = await vscode.window.showQuickPick([
      ...(bundledConductor === undefined ? [] : [{
        id: null,
        label: bundledConductor.id,
        description: vscode.l10n.t('part of Conductor, on this machine'),
        ...((pool.conductor ?? bundledConductor.id) === bundledConductor.id && { detail: now }),
      }]),
      // With an adapter it stands among the workers, too.
      ...pool.workers.filter(({ worker }) => !isBundled(worker, bundledConductor)).map(({ worker }) => ({
        id: worker.id, label: worker.id, description: worker.model, ...(worker.id === pool.conductor && { detail: now }),
      })),
    ], { title: vscode.l10n.t('Conductor: Choose Conductor'), placeHolder: vscode.l10n.t('Whose model writes the plans?') });
    if (picked) panel.setPool(await connection.request('conductor/choose', { id: picked.id }));
  }

  async removeWorker(): Promise<void> {
    const { connection, panel } = this.#options;
    const pool = await connection.request('pool/get', {});
    requireWorkers(pool);
    const picked = await vscode.window.showQuickPick(
      pool.workers.map(({ worker }) => ({ label: worker.id, description: worker.model })),
      { title: vscode.l10n.t('Conductor: Remove Worker'), placeHolder: vscode.l10n.t('Its key stays in the secret storage.') },
    );
    if (picked) panel.setPool(await connection.request('worker/remove', { id: picked.label }));
  }

  /** Opens workers.json, for everything that has no command. */
  async openWorkersFile(): Promise<void> {
    const pool = await this.#options.connection.request('pool/get', {});
    requireWorkers(pool);
    await vscode.window.showTextDocument(vscode.Uri.file(pool.file));
  }

  /** A run waits for a key. Says so once, however many runs wait, and leaves it to the person when to type it. */
  async offerKey(message: string): Promise<void> {
    if (this.#offering) return;
    this.#offering = true;
    try {
      const setKey = vscode.l10n.t('Set Key');
      if ((await vscode.window.showWarningMessage(plainMessage(message), setKey)) === setKey) await this.setKey();
    } finally {
      this.#offering = false;
    }
  }

  async #pickKey(placeHolder: string, { onlyStored = false } = {}): Promise<string | undefined> {
    const { connection, keys } = this.#options;
    const pool = await connection.request('pool/get', {});
    const names = [...new Set(pool.workers.flatMap(({ worker }) => (worker.key === undefined ? [] : [worker.key])))];
    const named = await Promise.all(names.map(async (name) => ({ name, stored: (await keys.get(name)) !== undefined })));
    const offered = named.filter(({ stored }) => stored || !onlyStored).sort((a, b) => Number(a.stored) - Number(b.stored));
    if (offered.length === 0) {
      throw new Error(onlyStored ? vscode.l10n.t('No key is stored.') : vscode.l10n.t('No worker needs a key.'));
    }
    const picked = await vscode.window.showQuickPick(offered.map(({ name, stored }) => ({
      label: name, description: stored ? vscode.l10n.t('stored') : vscode.l10n.t('missing'),
    })), { placeHolder });
    return picked?.label;
  }
}

function requireWorkers(pool: Pool): void {
  if (pool.workers.length === 0) throw new Error(vscode.l10n.t('There is no worker yet: run "Conductor: Add Worker".'));
}
