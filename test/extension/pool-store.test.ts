import { describe, expect, it } from 'vitest';
import type { Pool } from '../../backend/protocol/methods.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { PoolStore } from '../../extension/workers/pool-store.ts';
import { connectionOver, FakeBackend } from './fake-backend.ts';

function poolOf(id: string, enabled = true): Pool {
  const worker = workerConfigSchema.parse({ id, provider: 'openai', model: 'gpt-5', key: 'OPENAI_API_KEY', enabled });
  return { file: 'workers.json', warnAtPercent: 80, workers: [{ worker, ready: true, priced: true }] } as unknown as Pool;
}

describe('PoolStore', () => {
  it('reads the pool with each connection, and says when it changed', async () => {
    const { connection } = connectionOver([new FakeBackend().answer('pool/get', () => poolOf('first'))]);
    const store = new PoolStore(connection);
    const changed = new Promise((resolve) => store.changed.on(resolve));
    await connection.client();
    await expect(changed).resolves.toEqual(poolOf('first'));
    expect(store.pool).toEqual(poolOf('first'));
  });

  it('keeps a change when a read that began before it is answered later', async () => {
    const late = Promise.withResolvers<Pool>();
    const backend = new FakeBackend().answer('pool/get', () => poolOf('first'));
    const { connection } = connectionOver([backend]);
    const store = new PoolStore(connection);
    await connection.client();
    await store.refresh();
    backend.answer('pool/get', () => late.promise);
    const read = store.refresh();
    store.set(poolOf('saved'));
    late.resolve(poolOf('before'));
    await read;
    expect(store.pool).toEqual(poolOf('saved'));
  });

  it('has an enabled worker only if the pool has one', () => {
    const store = new PoolStore(connectionOver([]).connection);
    expect(store.hasEnabledWorker).toBe(false);
    store.set(poolOf('off', false));
    expect(store.hasEnabledWorker).toBe(false);
    store.set(poolOf('on'));
    expect(store.hasEnabledWorker).toBe(true);
  });
});
