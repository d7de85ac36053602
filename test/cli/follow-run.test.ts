import { expect, it } from 'vitest';
import { followRun } from '../../backend/cli/follow-run.ts';
import type { Terminal } from '../../backend/cli/terminal.ts';
import type { BackendClient } from '../../backend/protocol/client/backend-client.ts';
import { RPC_CODES, RequestError } from '../../backend/protocol/request-error.ts';

/** A connection that is lost before anything is answered. */
class LostClient implements BackendClient {
  readonly closed = Promise.resolve('The backend ended.');
  closeCalls = 0;

  async request(): Promise<never> {
    throw new RequestError({ code: RPC_CODES.disconnected, kind: 'disconnected', message: 'The connection is closed.' });
  }

  notify(): void {}

  on(): () => void {
    return () => undefined;
  }

  close(): void {
    this.closeCalls += 1;
  }
}

function follow(connect: () => Promise<BackendClient>, client = new LostClient()) {
  const said: string[] = [];
  const terminal: Terminal = {
    result: () => undefined, write: () => undefined, say: (text) => void said.push(text),
    style: (_format, text) => text, resultStyle: (_format, text) => text,
  };
  return { said, run: followRun({ runId: 'r1', client, connect, terminal, interrupted: new AbortController().signal }) };
}

it('connects again five times, closes what it opened, and then says how to go on', async () => {
  const first = new LostClient();
  const opened: LostClient[] = [];
  const { said, run } = follow(async () => {
    const client = new LostClient();
    opened.push(client);
    return client;
  }, first);
  await expect(run).rejects.toThrow('"conductor runs resume r1" goes on with the run.');
  expect(said).toEqual(Array.from({ length: 5 }, () => 'The connection to the backend closed; connecting again.'));
  expect(opened.map(({ closeCalls }) => closeCalls)).toEqual([1, 1, 1, 1, 1]);
  // Its opener closes it.
  expect(first.closeCalls).toBe(0);
});

it('says why the backend cannot be had again, and how to go on', async () => {
  const { run } = follow(() => Promise.reject(new Error('The backend did not come up.')));
  await expect(run).rejects.toThrow('The backend did not come up. "conductor runs resume r1" goes on with the run.');
});
