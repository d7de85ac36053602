import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { ModelSettings } from '../../../backend/lm/language-model.ts';
import { ModelClient, type ModelClientOptions, type ModelStatus } from '../../../backend/lm/process/model-client.ts';
import { type GoldenModel, modelFolder } from '../../golden/golden.ts';
import { MODEL_PROCESS } from './model-process-script.ts';

export interface TestClient {
  readonly client: ModelClient;
  readonly statuses: readonly ModelStatus[];
  /** Resolves when the status is such, now or later. */
  readonly until: (wanted: (status: ModelStatus) => boolean) => Promise<ModelStatus>;
}

export type ClientChanges = Partial<Omit<ModelClientOptions, 'settings'>> & { readonly settings?: Partial<ModelSettings> };

/** Clients with a storage of their own, which a test's end closes and removes. */
export function modelClients(): (model?: GoldenModel, changes?: ClientChanges) => TestClient {
  let storage: string;
  const clients: ModelClient[] = [];
  beforeEach(async () => { storage = await mkdtemp(path.join(tmpdir(), 'conductor-model-')); });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await rm(storage, { recursive: true, force: true });
  });
  return (model = 'qwen2-tiny', { settings, ...changes } = {}) => {
    const statuses: ModelStatus[] = [];
    const watchers = new Set<() => void>();
    const client = new ModelClient({
      settings: { folder: modelFolder(model), device: 'cpu', precision: 'full', adapters: true, storage, ...settings },
      script: MODEL_PROCESS,
      chooseDevice: async () => ({ device: 'cpu', reasons: [] }),
      idleMs: 600_000,
      threads: 1,
      ...changes,
      onStatus: (status) => {
        statuses.push(status);
        for (const look of watchers) look();
      },
    });
    clients.push(client);
    const until = (wanted: (status: ModelStatus) => boolean): Promise<ModelStatus> => new Promise((resolve) => {
      const look = (): void => {
        if (!wanted(client.status)) return;
        watchers.delete(look);
        resolve(client.status);
      };
      watchers.add(look);
      look();
    });
    return { client, statuses, until };
  };
}

/** Seeds for so many rows. */
export const seeds = (rows: number, from = 1): number[] => Array.from({ length: rows }, (_, row) => from + row);
