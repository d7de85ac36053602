import { describe, expect, it } from 'vitest';
import { CheckpointError } from '../../../backend/lm/checkpoint/errors.ts';
import { ModelRequestError } from '../../../backend/lm/decoder/request-error.ts';
import { literal, oneOf, repeat, sequence } from '../../../backend/lm/automaton/pattern.ts';
import { ModelClosedError } from '../../../backend/lm/process/errors.ts';
import { TokenizerMissingError } from '../../../backend/lm/tokenizer/errors.ts';
import { adapterFolder, GOLDEN_MODELS, readFigures } from '../../golden/golden.ts';
import { modelClients, seeds } from './model-clients.ts';

/*
 * Everything here goes through a real process with a real model.
 */

const open = modelClients();
const MESSAGES = [{ role: 'user' as const, content: 'Which is the longest river?' }];

describe.each(GOLDEN_MODELS)('%s in a process of its own', (model) => {
  it('generates and scores as PyTorch does, with and without adapter', async () => {
    const { prompts, newTokens, sequences, promptLengths, base, adapters } = await readFigures(model);
    const { client } = open(model);
    for (const [adapter, figures] of [[undefined, base] as const, ...Object.entries(adapters)]) {
      const folder = adapter && adapterFolder(adapter);
      const request = { prompts, samples: 1, maxTokens: newTokens, temperature: 0, seeds: seeds(prompts.length) };
      const rows = await client.generate({ ...request, adapter: folder });
      expect(rows.map(({ tokens }) => tokens)).toEqual(figures.greedy.tokens);
      const scores = await client.score({ sequences, promptLengths, adapter: folder });
      const expected = figures.completionLogprobs;
      expect(scores.map((row) => row.length)).toEqual(expected.map((row) => row.length));
      const [given, wanted] = [scores.flat(), expected.flat()];
      const distances = given.map((score, place) => Math.abs(score - (wanted[place] ?? NaN)));
      expect(Math.max(...distances)).toBeLessThan(2e-4);
    }
  });
});

describe('the client of a model', () => {
  it('says what it does: loading with its phases, then ready with what was loaded', async () => {
    const { client, statuses } = open('qwen3-tiny');
    expect(client.status).toEqual({ state: 'unloaded' });
    const description = await client.describe();
    const expected = { name: 'qwen3-tiny', device: 'cpu', precision: 'full', contextLength: 4096, deviceReasons: [] };
    expect(description).toMatchObject(expected);
    expect(client.status).toEqual({ state: 'ready', description });
    const phases = statuses.flatMap((status) => (status.state === 'loading' && status.progress ? [status.progress.phase] : []));
    expect([...new Set(phases)]).toEqual(['reading', 'loading']);
    expect((await client.memory())?.residentBytes).toBeGreaterThan(10e6);
  });

  it('writes, streams what it writes, and holds it to a grammar', async () => {
    const { client } = open();
    const pieces = ['', '', ''];
    const grammar = sequence(literal('No. '), repeat(oneOf('0123456789'), 1, 9));
    const written = await client.write({
      messages: MESSAGES, prefill: 'Answer: ', samples: 3, seeds: seeds(3), maxTokens: 40, temperature: 1, grammar,
      onText: (sample, text) => { pieces[sample] += text; },
    });
    expect(written.map(({ text }) => text)).toEqual(pieces);
    for (const { text } of written) expect(text).toMatch(/^Answer: No\. \d{1,9}$/);
  });

  it('streams every token of every row, in order', async () => {
    const { client } = open();
    const told: number[][] = [[], [], [], []];
    const rows = await client.generate({
      prompts: [[5, 6], [7]], samples: 2, seeds: seeds(4), maxTokens: 50, temperature: 1,
      onTokens: (row, tokens) => told[row]?.push(...tokens),
    });
    expect(rows.map(({ tokens }) => tokens)).toEqual(told);
  });

  it('gives the same for the same seeds in every process', async () => {
    const { client } = open();
    const request = { messages: MESSAGES, samples: 4, seeds: seeds(4, 99), maxTokens: 60, temperature: 0.9, topP: 0.95 };
    const before = await client.write(request);
    const { pid } = client;
    process.kill(pid as number, 'SIGKILL');
    const { client: other } = open();
    expect(await other.write(request)).toEqual(before);
    expect(await client.write(request)).toEqual(before);
    expect(client.pid).not.toBe(pid);
  });

  it('gets errors as what they were in the process', async () => {
    const { client } = open('qwen2-tiny-untied');
    const text = client.write({ messages: MESSAGES, samples: 1, seeds: [1], maxTokens: 5, temperature: 1 });
    await expect(text).rejects.toThrow(TokenizerMissingError);
    const wrongToken = client.generate({ prompts: [[9_999]], samples: 1, seeds: [1], maxTokens: 5, temperature: 1 });
    await expect(wrongToken).rejects.toThrow(ModelRequestError);
    await expect(wrongToken).rejects.toThrow(/9999/);
    const halfToken = client.generate({ prompts: [[1.5]], samples: 1, seeds: [1], maxTokens: 5, temperature: 1 });
    await expect(halfToken).rejects.toThrow(/1\.5/);
    const noNumber = client.generate({ prompts: [[1]], samples: 1, seeds: [1], maxTokens: 5, temperature: NaN });
    await expect(noNumber).rejects.toThrow(ModelRequestError);
    const score = { sequences: [[1, 2]], promptLengths: [1] };
    const noAdapter = client.score({ ...score, adapter: '/nowhere' });
    await expect(noAdapter).rejects.toMatchObject({ name: 'CheckpointError', kind: 'missing-file' });
    expect(await client.score(score)).toHaveLength(1);

    const { client: nothing } = open('qwen2-tiny', { settings: { folder: '/nowhere' } });
    await expect(nothing.describe()).rejects.toThrow(CheckpointError);
    expect(nothing.status).toEqual({ state: 'unloaded' });
    expect(nothing.pid).toBeUndefined();
  });

  it('ends the process when nobody has asked for a while, and starts it for the next request', async () => {
    const { client, until } = open('qwen2-tiny', { idleMs: 1 });
    const first = await client.score({ sequences: [[1, 2]], promptLengths: [1] });
    await until(({ state }) => state === 'unloaded');
    expect(client.pid).toBeUndefined();
    client.unloadAfter(600_000);
    expect(await client.score({ sequences: [[1, 2]], promptLengths: [1] })).toEqual(first);
    client.unloadAfter(0);
    await until(({ state }) => state === 'unloaded');
  });

  it('refuses what waits and what comes once it is closed, and leaves no process', async () => {
    const { client } = open();
    await client.describe();
    const { pid } = client;
    const request = { prompts: [[1]], samples: 1, seeds: [1], maxTokens: 2_000, temperature: 1 };
    const waiting = [1, 2].map(() => client.generate(request));
    const refused = Promise.all(waiting.map((request) => expect(request).rejects.toThrow(ModelClosedError)));
    await client.close();
    await refused;
    await expect(client.describe()).rejects.toThrow(ModelClosedError);
    expect(() => process.kill(pid as number, 0)).toThrow('ESRCH');
  });

  it('leaves its own process free while the model generates: the event loop turns thousands of times', async () => {
    const { client } = open();
    await client.describe();
    let turns = 0;
    let counting = true;
    const count = (): void => {
      turns += 1;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    await client.generate({ prompts: [[1], [2]], samples: 32, seeds: seeds(64), maxTokens: 300, temperature: 1 });
    counting = false;
    // Run here, these are two chunks, and the loop would turn some ten times.
    expect(turns).toBeGreaterThan(1_000);
  });
});

describe('a cancelled request', () => {
  it('is told at once, hears nothing more, and lets the next one begin after one chunk', async () => {
    const { client } = open();
    const controller = new AbortController();
    const reason = new Error('no longer wanted');
    let tokensBefore = 0;
    let heardAfter = 0;
    const long = client.generate({
      prompts: [[1]], samples: 1, seeds: [1], maxTokens: 2_000, temperature: 1, signal: controller.signal,
      onTokens: (_, tokens) => {
        if (controller.signal.aborted) heardAfter += 1;
        else tokensBefore += tokens.length;
        controller.abort(reason);
      },
    });
    await expect(long).rejects.toBe(reason);
    const { pid } = client;
    await client.generate({ prompts: [[1]], samples: 1, seeds: [1], maxTokens: 1, temperature: 1 });
    expect(tokensBefore).toBeLessThanOrEqual(16);
    expect(heardAfter).toBe(0);
    expect(client.pid).toBe(pid);
  });

  it('costs the process where a chunk does not end, and the next request starts it again', async () => {
    const { client } = open('qwen2-tiny', { graceMs: 0 });
    await client.describe();
    const { pid } = client;
    const controller = new AbortController();
    // Without a reader, 300 tokens of 2,000 rows are chunks of seconds, which no message interrupts.
    const long = client.generate({
      prompts: Array.from({ length: 500 }, () => [1, 2, 3]), samples: 4, seeds: seeds(2_000), maxTokens: 300, temperature: 1,
      signal: controller.signal,
    });
    const next = client.score({ sequences: [[1, 2]], promptLengths: [1] });
    // Answered by the process before it begins to generate, or between two chunks.
    await client.memory();
    controller.abort();
    await expect(long).rejects.toThrow('aborted');
    expect(await next).toHaveLength(1);
    expect(client.pid).not.toBe(pid);
  });
});
