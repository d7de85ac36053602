import { describe, expect, it } from 'vitest';
import type { ConnectionState } from '../../extension/common/backend-connection.ts';
import { connectionOver, FakeBackend } from './fake-backend.ts';

/** A connection whose backends come from a list; an error in the list is a start that fails. */
function connectionTo(...backends: (FakeBackend | Error)[]) {
  const waits: number[] = [];
  const states: ConnectionState[] = [];
  const { connection, starts } = connectionOver(backends, { wait: async (ms) => void waits.push(ms) });
  connection.stateChanged.on((state) => states.push(state));
  const reaches = (kind: ConnectionState['kind']): Promise<void> => new Promise((resolve) => {
    const end = connection.stateChanged.on((state) => {
      if (state.kind !== kind) return;
      end();
      resolve();
    });
  });
  return { connection, waits, states, starts, reaches };
}

const summary = { runId: 'r1', state: 'running' };

describe('BackendConnection', () => {
  it('starts nothing before it is used', () => {
    const { connection, starts } = connectionTo(new FakeBackend());
    connection.on('run/changed', () => undefined);
    connection.notify('client/secretChanged', { name: 'KEY' });
    expect(starts()).toBe(0);
    expect(connection.state).toEqual({ kind: 'idle' });
  });

  it('lets everybody who needs it at once wait for one start', async () => {
    const { connection, starts } = connectionTo(new FakeBackend());
    const clients = await Promise.all([connection.client(), connection.client(), connection.client()]);
    expect(new Set(clients).size).toBe(1);
    expect(starts()).toBe(1);
  });

  it('says why it is unavailable, and tries again at the next use', async () => {
    const { connection, states } = connectionTo(new Error('Node 18 has no node:sqlite.'), new FakeBackend());
    await expect(connection.client()).rejects.toThrow('Node 18 has no node:sqlite.');
    expect(connection.state).toEqual({ kind: 'unavailable', message: 'Node 18 has no node:sqlite.' });
    await connection.client();
    expect(states.map(({ kind }) => kind)).toEqual(['starting', 'unavailable', 'starting', 'connected']);
  });

  it('comes back after a loss, waiting longer between attempts, and whoever listened still listens', async () => {
    const [first, second] = [new FakeBackend(), new FakeBackend()];
    const { connection, waits, reaches } = connectionTo(first, new Error('refused'), new Error('refused'), second);
    const heard: unknown[] = [];
    connection.on('run/changed', (run) => heard.push(run));
    await connection.client();
    const back = reaches('connected');
    first.lose();
    await back;
    expect(waits).toEqual([500, 1_000]);
    second.emit('run/changed', summary);
    expect(heard).toEqual([summary]);
  });

  it('lets a request that comes while it reconnects wait for the new connection', async () => {
    const first = new FakeBackend();
    const second = new FakeBackend().answer('pool/get', () => ({ file: 'workers.json', workers: [] }));
    const { connection, reaches } = connectionTo(first, second);
    await connection.client();
    const starting = reaches('starting');
    first.lose();
    await starting;
    expect(await connection.request('pool/get', {})).toMatchObject({ file: 'workers.json' });
  });

  it('gives up after the last attempt and says why', async () => {
    const first = new FakeBackend();
    const { connection, waits, reaches } = connectionTo(first, ...Array.from({ length: 6 }, () => new Error('no port')));
    await connection.client();
    const gone = reaches('unavailable');
    first.lose();
    await gone;
    expect(waits).toHaveLength(5);
    expect(connection.state).toEqual({ kind: 'unavailable', message: 'no port' });
  });

  it('does not come back by itself when the person stopped the backend, and does when it is used', async () => {
    const [first, second] = [new FakeBackend(), new FakeBackend()];
    const { connection, starts } = connectionTo(first, second);
    await connection.client();
    await connection.stopBackend();
    expect(connection.state).toEqual({ kind: 'stopped' });
    expect(starts()).toBe(1);
    expect(await connection.client()).toBe(second.client);
  });

  it('ends a subscription that was ended, on this connection and on later ones', async () => {
    const [first, second] = [new FakeBackend(), new FakeBackend()];
    const { connection, reaches } = connectionTo(first, second);
    const heard: unknown[] = [];
    const end = connection.on('run/changed', (run) => heard.push(run));
    await connection.client();
    end();
    first.emit('run/changed', summary);
    const back = reaches('connected');
    first.lose();
    await back;
    second.emit('run/changed', summary);
    expect(heard).toEqual([]);
  });

  it('stays away once it is disposed of', async () => {
    const first = new FakeBackend();
    const { connection, starts } = connectionTo(first, new FakeBackend());
    await connection.client();
    connection.dispose();
    await first.client.closed;
    await expect(connection.client()).rejects.toThrow();
    expect(starts()).toBe(1);
  });
});
