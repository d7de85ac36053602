import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunText, StoredEvent } from '../../backend/protocol/run-events.ts';
import { applyEvent, snapshotOf } from '../../backend/protocol/fold-run.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { serve, type Serving } from './support/serving.ts';

let serving: Serving;
beforeAll(async () => { serving = await serve(); });
afterAll(() => serving.close());

const macrotask = () => new Promise<void>((resolve) => setImmediate(resolve));

/** What happens in a script: an event of the run, a subscription of the client, or time that passes. */
const actions = fc.array(
  fc.constantFrom(
    'event', 'subscribe', 'unsubscribe', 'event before the snapshot', 'event after the snapshot', 'microtask', 'macrotask',
  ),
  { maxLength: 40 },
);

describe('run/subscribe', () => {
  let number = 0;

  test('a snapshot and what follows it are the whole run, without a gap or a duplicate, however they interleave', async () => {
    const client = await serving.open();
    await fc.assert(
      fc.asyncProperty(actions, async (script) => {
        const runId = `run-${(number += 1)}`;
        const { runs } = serving;
        runs.begin(runId);
        const emit = () => runs.emit(runId, { type: 'run.waiting', for: 'secret', message: `${Math.random()}` });

        let view: RunSnapshot | undefined;
        const problems: string[] = [];
        const off = client.on('run/event', (event: StoredEvent) => {
          if (event.runId !== runId) return;
          if (!view) problems.push(`event ${event.seq} came before the snapshot`);
          else if (event.seq !== view.seq + 1) problems.push(`event ${event.seq} came after ${view.seq}`);
          else view = applyEvent(view, event);
        });
        const answers: Promise<unknown>[] = [];
        const subscribe = () => client.request('run/subscribe', { runId }).then(({ run }) => { view = run; });

        for (const action of script) {
          if (action === 'event') emit();
          else if (action === 'subscribe') answers.push(subscribe());
          else if (action === 'unsubscribe') answers.push(client.request('run/unsubscribe', { runId }));
          else if (action === 'event before the snapshot') runs.aroundSnapshot.before = emit;
          else if (action === 'event after the snapshot') runs.aroundSnapshot.after = emit;
          else if (action === 'microtask') await Promise.resolve();
          else await macrotask();
        }
        await Promise.all(answers);
        runs.aroundSnapshot = {};
        // The last subscription; then events until one arrives: everything before it has arrived as well.
        await subscribe();
        const last = emit();
        await client.request('backend/health', {});
        off();
        expect(problems).toEqual([]);
        expect(view?.seq).toBe(last.seq);
        expect(view).toEqual(JSON.parse(JSON.stringify(snapshotOf(runs.events(runId, 0)))));
        await client.request('run/unsubscribe', { runId });
      }),
      { numRuns: 150 },
    );
    client.close();
  });

  test('text comes to subscribers only, and after the snapshot', async () => {
    serving.runs.begin('text');
    const subscriber = await serving.open();
    const other = await serving.open();
    const texts: RunText[] = [];
    const strays: RunText[] = [];
    subscriber.on('run/text', (text) => texts.push(text));
    other.on('run/text', (text) => strays.push(text));
    await subscriber.request('run/subscribe', { runId: 'text' });
    const text = { runId: 'text', round: 0, purpose: { kind: 'plan' }, attemptId: 'a', offset: 0, text: 'Hello' } as const;
    serving.runs.say(text);
    await Promise.all([subscriber.request('backend/health', {}), other.request('backend/health', {})]);
    expect(texts).toEqual([text]);
    expect(strays).toEqual([]);
  });

  test('a run that does not exist leaves no subscription, and an earlier one stays', async () => {
    const client = await serving.open();
    await expect(client.request('run/subscribe', { runId: 'later' })).rejects.toMatchObject({ kind: 'run-not-found' });
    const events: StoredEvent[] = [];
    client.on('run/event', (event) => events.push(event));
    serving.runs.begin('later');
    await client.request('backend/health', {});
    expect(events).toEqual([]);
  });

  test('a client that left is no longer told anything', async () => {
    const before = serving.runs.listenerCount;
    const client = await serving.open();
    expect(serving.runs.listenerCount).toBe(before + 1);
    const left = new Promise<void>((resolve) => {
      const stop = serving.clients.onCountChanged(() => { stop(); resolve(); });
    });
    client.close();
    await left;
    expect(serving.runs.listenerCount).toBe(before);
  });
});

test('run/changed reaches every client', async () => {
  const clients = await Promise.all([serving.open(), serving.open()]);
  const states = clients.map((client) => new Promise((resolve) => client.on('run/changed', ({ state }) => resolve(state))));
  serving.runs.change('any', 'waiting');
  expect(await Promise.all(states)).toEqual(['waiting', 'waiting']);
});

test('a client that lists no runs is not told which change, and follows one all the same', async () => {
  const { runs } = serving;
  runs.begin('followed');
  const client = await serving.open({ listsRuns: false });
  const heard: string[] = [];
  for (const told of ['run/changed', 'run/removed'] as const) client.on(told, () => void heard.push(told));
  client.on('run/text', ({ text }) => void heard.push(text));
  await client.request('run/subscribe', { runId: 'followed' });
  runs.change('any', 'waiting');
  runs.say({ runId: 'followed', round: 0, purpose: { kind: 'plan' }, attemptId: 'a', offset: 0, text: 'A text.' });
  await client.request('backend/health', {});
  expect(heard).toEqual(['A text.']);
});

describe('run/remove', () => {
  test('is told to every client, and to one that follows the run nothing more', async () => {
    const { runs } = serving;
    runs.begin('gone');
    const [asking, other] = [await serving.open(), await serving.open()];
    await other.request('run/subscribe', { runId: 'gone' });
    const heard: string[] = [];
    for (const client of [asking, other]) client.on('run/removed', ({ runId }) => void heard.push(runId));
    other.on('run/event', ({ runId }) => void heard.push(`an event of ${runId}`));
    await asking.request('run/remove', { runId: 'gone' });
    runs.begin('gone');
    await Promise.all([asking, other].map((client) => client.request('backend/health', {})));
    expect(heard).toEqual(['gone', 'gone']);
    await expect(asking.request('run/remove', { runId: 'never' })).rejects.toMatchObject({ kind: 'run-not-found' });
  });
});
