import * as vscode from 'vscode';
import { isBundled } from '../../backend/protocol/bundled-conductor.ts';
import type { Pool } from '../../backend/protocol/methods.ts';
import { estimateWords, plannerReason } from '../../backend/protocol/planner-words.ts';
import type { WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { askKeyValue } from './ask-key-value.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import type { KeyStore } from './keys.ts';
import type { PoolStore } from './pool-store.ts';
import { NextStepError, noWorkerYet } from '../common/next-step.ts';
import { plainMessage } from '../common/plain-message.ts';

export interface WorkerCommandOptions {
  readonly connection: BackendConnection;
  readonly keys: KeyStore;
  readonly poolStore: Pick<PoolStore, 'set'>;
}

/** The commands for workers and their keys, except adding one. */
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

  /** Selects the model that plans. */
  async chooseConductor(): Promise<void> {
    const { connection, poolStore } = this.#options;
    const pool = await connection.request('pool/get', {});
    requireWorkers(pool);
    const { bundledConductor } = pool;
    const picked = await vscode.window.showQuickPick([
      {
        id: null,
        label: vscode.l10n.t('Best planner for its price'),
        description: vscode.l10n.t('whoever that is among your workers'),
        ...(pool.conductor === undefined && pool.planner && { detail: vscode.l10n.t('chosen now: {0}', plannerWords(pool.planner)) }),
      },
      ...(bundledConductor === undefined ? [] : [{
        id: bundledConductor.id,
        label: bundledConductor.id,
        description: vscode.l10n.t('planning costs nothing: part of Conductor, on this machine'),
        ...(pool.conductor === bundledConductor.id && { detail: vscode.l10n.t('plays the Conductor now') }),
      }]),
      // A model with an adapter is also listed among the workers.
      ...pool.workers.filter(({ worker }) => !isBundled(worker, bundledConductor)).map(({ worker }) => ({
        id: worker.id,
        label: worker.id,
        description: worker.model,
        ...(worker.id === pool.conductor && { detail: vscode.l10n.t('plays the Conductor now') }),
      })),
    ], { title: vscode.l10n.t('Conductor: Choose Conductor'), placeHolder: vscode.l10n.t('Which model should write the plans?') });
    if (picked) poolStore.set(await connection.request('conductor/choose', { id: picked.id }));
  }

  /** Asks for confirmation and names what is removed with it. */
  async removeWorker(): Promise<void> {
    const { connection, keys, poolStore } = this.#options;
    const pool = await connection.request('pool/get', {});
    requireWorkers(pool);
    const picked = await vscode.window.showQuickPick(
      pool.workers.map(({ worker }) => ({ label: worker.id, description: worker.model })),
      { title: vscode.l10n.t('Conductor: Remove Worker'), placeHolder: vscode.l10n.t('Which worker do you want to remove?') },
    );
    const worker = pool.workers.find((status) => status.worker.id === picked?.label)?.worker;
    if (!worker) return;
    const key = await this.#keyOfOnly(worker, pool);
    const wish = await askRemoval(worker, pool, key);
    if (!wish) return;
    poolStore.set(await connection.request('worker/remove', { id: worker.id }));
    if (wish === 'with-key' && key !== undefined) await keys.remove(key);
    void vscode.window.showInformationMessage(plainMessage(
      key === undefined ? vscode.l10n.t('Removed the worker "{0}".', worker.id)
      : wish === 'with-key' ? vscode.l10n.t('Removed the worker "{0}" and its key {1}.', worker.id, key)
      : vscode.l10n.t('Removed the worker "{0}". Its key {1} stays in the secret storage.', worker.id, key),
    ));
  }

  /** The name of the worker's key, if it is stored and no other worker uses it. */
  async #keyOfOnly({ id, key }: WorkerConfig, { workers }: Pool): Promise<string | undefined> {
    if (key === undefined || workers.some(({ worker }) => worker.key === key && worker.id !== id)) return undefined;
    return (await this.#options.keys.get(key)) === undefined ? undefined : key;
  }

  /** Opens workers.json for settings that have no command; creates it if necessary. */
  async openWorkersFile(): Promise<void> {
    const { file } = await this.#options.connection.request('pool/create', {});
    await vscode.window.showTextDocument(vscode.Uri.file(file));
  }

  /** A run waits for a key. Notifies once, however many runs wait; the user decides when to enter it. */
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
    requireWorkers(pool);
    const names = [...new Set(pool.workers.flatMap(({ worker }) => (worker.key === undefined ? [] : [worker.key])))];
    const named = await Promise.all(names.map(async (name) => ({ name, stored: (await keys.get(name)) !== undefined })));
    const offered = named.filter(({ stored }) => stored || !onlyStored).sort((a, b) => Number(a.stored) - Number(b.stored));
    if (offered.length === 0) {
      throw new NextStepError(onlyStored ? vscode.l10n.t('No key is stored.') : vscode.l10n.t('No worker needs a key.'));
    }
    const picked = await vscode.window.showQuickPick(offered.map(({ name, stored }) => ({
      label: name, description: stored ? vscode.l10n.t('stored') : vscode.l10n.t('missing'),
    })), { placeHolder });
    return picked?.label;
  }
}

function plannerWords({ worker, choice }: NonNullable<Pool['planner']>): string {
  return [vscode.l10n.t('{0}, {1}', worker.id, plannerReason(choice.why)), ...estimateWords(choice.estimate)].join(' · ');
}

function requireWorkers(pool: Pool): void {
  if (pool.workers.length === 0) throw noWorkerYet();
}

/** @param key used by no other worker. @returns undefined if the user cancels */
async function askRemoval(worker: WorkerConfig, pool: Pool, key: string | undefined): Promise<'with-key' | 'alone' | undefined> {
  const remove = vscode.l10n.t('Remove Worker');
  const removeWithKey = vscode.l10n.t('Remove Worker and Key');
  const removeAlone = vscode.l10n.t('Remove Worker Alone');
  const detail = [
    worker.baseUrl === undefined ? vscode.l10n.t('Its model: {0}.', worker.model) : vscode.l10n.t('Its model: {0}, at {1}.', worker.model, worker.baseUrl),
    ...(key === undefined ? [] : [vscode.l10n.t('No other worker has its key {0}.', key)]),
    ...(pool.conductor === worker.id ? [vscode.l10n.t('It is the Conductor. The best planner for its price among the others will replace it.')] : []),
  ].join('\n');
  const choices = key === undefined ? [remove] : [removeWithKey, removeAlone];
  const chosen = await vscode.window.showWarningMessage(vscode.l10n.t('Remove the worker "{0}"?', worker.id), { modal: true, detail }, ...choices);
  if (chosen === undefined) return undefined;
  return chosen === removeWithKey ? 'with-key' : 'alone';
}
