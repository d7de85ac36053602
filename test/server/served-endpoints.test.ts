import { expect, it } from 'vitest';
import { RequestError } from '../../backend/protocol/request-error.ts';
import type { Listening } from '../../backend/common/local-http.ts';
import { ClientEndpoints } from '../../backend/server/handlers/serve-handlers.ts';

/** A client's endpoints, and what came of them. */
function endpointsOf(open: (port: number, close: Listening['close']) => Promise<Listening>) {
  const closed: number[] = [];
  const logged: string[] = [];
  const endpoints = new ClientEndpoints({ open: (port) => open(port, () => Promise.resolve(void closed.push(port))) }, { say: () => {}, log: (line) => logged.push(line) });
  return { endpoints, closed, logged, ask: (port: number) => endpoints.handlers()['serve/open']({ port }, { signal: new AbortController().signal, afterReply: () => {} }) };
}

it('closes each endpoint of a client that leaves once, and logs nothing of a port that was taken', async () => {
  const { endpoints, closed, logged, ask } = endpointsOf((port, close) => (port === 1 ? Promise.reject(new RequestError({ code: 1, kind: 'port-taken', message: 'Port 1 is taken.' })) : Promise.resolve({ port, close })));
  await expect(ask(1)).rejects.toThrow('Port 1 is taken.');
  await ask(2);
  endpoints.close();
  await new Promise(setImmediate);
  expect({ closed, logged }).toEqual({ closed: [2], logged: [] });
});

it('closes an endpoint once that opens when its client has left', async () => {
  const opening = Promise.withResolvers<undefined>();
  const { endpoints, closed, ask } = endpointsOf(async (port, close) => {
    await opening.promise;
    return { port, close };
  });
  const asked = ask(3);
  endpoints.close();
  opening.resolve(undefined);
  await asked;
  await new Promise(setImmediate);
  expect(closed).toEqual([3]);
});
