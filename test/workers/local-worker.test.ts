import { describe, expect, it, vi } from 'vitest';
import type { LanguageModel, WrittenText } from '../../backend/lm/language-model.ts';
import { PromptTooLongError } from '../../backend/lm/decoder/request-error.ts';
import { DeviceError } from '../../backend/lm/device/device-error.ts';
import { ModelClosedError, ModelDiedError } from '../../backend/lm/process/errors.ts';
import { ModelMissingError } from '../../backend/lm/process/model-missing-error.ts';
import type { WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { WorkerError } from '../../backend/workers/errors.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { ScriptedModel, written } from '../support/scripted-model.ts';
import { HELLO, rejection, setUp, workerOf } from './harness.ts';

const worker: WorkerConfig = workerOf({ provider: 'local', model: 'owner/model', key: undefined, concurrency: 4 });
const prices = await loadPrices();

async function calling(script: ConstructorParameters<typeof ScriptedModel>[0]) {
  const model: ScriptedModel & LanguageModel = new ScriptedModel(script);
  const { options, books } = await setUp();
  const caller = new WorkerCaller({ limits: new ProviderLimits({ workers: [worker] }), prices, localModel: () => model, delay: async () => {} });
  return { model, books, call: (signal = options.signal) => caller.call(worker, HELLO, { ...options, signal }) };
}

describe('a model of this machine as a worker', () => {
  it('answers for nothing, with its tokens counted, its seed told and no adapter', async () => {
    const { model, call } = await calling(async () => [written('Hello.', { device: 'cuda' })]);
    const { reply, spent } = await call();
    expect(reply).toMatchObject({ text: 'Hello.', finishReason: 'stop', model: 'owner/model' });
    expect(reply.sampled).toEqual({ seed: model.asked[0]?.seeds[0], device: 'cuda' });
    expect(spent).toMatchObject({ cost: { usd: 0, estimated: false }, usage: { uncachedInput: 3, output: 2, estimated: false } });
    expect(model.asked[0]).toMatchObject({ messages: HELLO.messages, samples: 1 });
    expect(model.asked[0]?.adapter).toBeUndefined();
    expect(model.asked[0]?.grammar).toBeUndefined();
  });

  it('is asked one question after another, whatever its concurrency says', async () => {
    const first = Promise.withResolvers<WrittenText[]>();
    const begun = Promise.withResolvers<void>();
    const { model, call } = await calling(async () => {
      begun.resolve();
      return first.promise;
    });
    const calls = [call(), call()];
    await begun.promise;
    expect(model.asked).toHaveLength(1);
    first.resolve([written('done')]);
    expect((await Promise.all(calls)).map(({ reply }) => reply.text)).toEqual(['done', 'done']);
    expect(model.asked).toHaveLength(2);
  });

  it('may be silent for as long as it takes to load', async () => {
    vi.useFakeTimers();
    try {
      const loaded = Promise.withResolvers<WrittenText[]>();
      const { call } = await calling(() => loaded.promise);
      const answered = call();
      await vi.advanceTimersByTimeAsync(3_600_000);
      loaded.resolve([written('at last')]);
      expect((await answered).reply.text).toBe('at last');
    } finally {
      vi.useRealTimers();
    }
  });

  it('is told when nobody wants its answer any more', async () => {
    const controller = new AbortController();
    const { model, call } = await calling(({ signal }) => new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
      controller.abort();
    }));
    expect(await rejection(call(controller.signal))).toMatchObject({ kind: 'cancelled' });
    expect(model.asked[0]?.signal?.aborted).toBe(true);
  });

  it('that runs away is stopped at the length of an answer', async () => {
    const { model, call } = await calling(({ signal, onText }) => new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
      for (let piece = 0; piece < 3 && !signal?.aborted; piece += 1) onText?.(0, 'x'.repeat(600_000));
    }));
    expect(await rejection(call())).toMatchObject({ kind: 'too-large' });
    expect(model.asked[0]?.signal?.aborted).toBe(true);
  });

  it('that died is asked once more, and no third time', async () => {
    const { model, books, call } = await calling(() => Promise.reject(new ModelDiedError({ retryable: true, message: 'It was killed.' })));
    expect(await rejection(call())).toMatchObject({ kind: 'model-died', message: '"ada": It was killed.' });
    expect(model.asked).toHaveLength(2);
    expect(books.failures.map(({ retryInMs }) => retryInMs !== undefined)).toEqual([true, false]);
  });

  it.each([
    ['context-overflow', new PromptTooLongError('It reads 2,048 tokens.')],
    ['not-found', new ModelMissingError('owner/model')],
    ['model-unusable', new DeviceError('out-of-memory', 'It is too large.')],
    ['model-unusable', new ModelDiedError({ retryable: false, message: 'It died three times.' })],
    ['model-unloaded', new ModelClosedError('It was unloaded.')],
  ])('%s is said in the model\'s own words, counts for nothing, and is not tried again', async (kind, error) => {
    const { model, books, call } = await calling(() => Promise.reject(error));
    const failure = await rejection(call());
    expect(failure).toBeInstanceOf(WorkerError);
    expect(failure).toMatchObject({ kind, message: `"ada": ${error.message}` });
    expect(model.asked).toHaveLength(1);
    expect(books.failures[0]?.spent).toMatchObject({ cost: { usd: 0 } });
  });

  it('is out of reach where no models are run', async () => {
    const { options } = await setUp();
    const caller = new WorkerCaller({ limits: new ProviderLimits(), prices });
    expect(await rejection(caller.call(worker, HELLO, options))).toMatchObject({ kind: 'not-found' });
  });
});
