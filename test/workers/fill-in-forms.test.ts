import type { RequestListener } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { FillInForms, type FillInForm } from '../../backend/workers/adapters/fill-in-forms.ts';
import { LocalServer } from '../support/local-server.ts';
import { workerOf } from './harness.ts';

/** Asks a real server what it is, at a clock of the test's own. */
async function formsAt(listener: RequestListener) {
  const seen = { asked: 0, now: 0 };
  const server = await LocalServer.start((request, response) => {
    seen.asked += 1;
    listener(request, response);
  });
  const worker = workerOf({ provider: 'openai-compatible', baseUrl: `${server.url}/v1` });
  onTestFinished(() => server.stop());
  const forms = new FillInForms({ now: () => seen.now });
  const of = (): Promise<readonly FillInForm[]> => forms.of(worker, undefined, new AbortController().signal);
  return { seen, of, forms, worker };
}

const llamaCpp = JSON.stringify({ data: [{ id: 'some-model', owned_by: 'llamacpp' }] });

it('a server that is still starting is asked again what it is a minute later, and no sooner', async () => {
  let isStarting = true;
  const letGo = Promise.withResolvers<void>();
  const { seen, of } = await formsAt((_request, response) => {
    if (!isStarting) return void response.end(llamaCpp);
    response.on('close', () => letGo.resolve());
    // Goes on and on: nobody waits for the end of a refusal.
    response.writeHead(503).write('Loading model');
  });
  expect(await of()).toEqual(['chat']);
  await letGo.promise;
  isStarting = false;
  expect(await of()).toEqual(['chat']);
  expect(seen.asked).toBe(1);
  seen.now += 60_000;
  expect(await of()).toEqual(['infill', 'chat']);
  seen.now += 60_000;
  expect(await of()).toEqual(['infill', 'chat']);
  expect(seen.asked).toBe(2);
});

it('what a call found out that began before the server was known does not count against it', async () => {
  let isStarting = true;
  const { seen, of, forms, worker } = await formsAt((_request, response) => void response.writeHead(isStarting ? 503 : 200).end(llamaCpp));
  const tried = await of();
  isStarting = false;
  seen.now += 60_000;
  await of();
  forms.understood(worker, tried, 'chat');
  expect(await of()).toEqual(['infill', 'chat']);
});

it('a server that does not answer is not waited for with every suggestion', async () => {
  const { seen, of } = await formsAt((request) => request.socket.destroy());
  await of();
  await of();
  expect(seen.asked).toBe(1);
});

it('a server that says more than a list of models does is none of those that are known', async () => {
  const { seen, of } = await formsAt((_request, response) => response.end(`${' '.repeat(2_000_000)}${llamaCpp}`));
  expect(await of()).toEqual(['chat']);
  seen.now += 60_000;
  expect(await of()).toEqual(['chat']);
  expect(seen.asked).toBe(1);
});
