import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planRequest } from '../../../backend/conductor/plan-request.ts';
import { openTokenizer } from '../../../backend/lm/tokenizer/tokenizer.ts';
import { conductorPrompt } from '../../../backend/conductor/conductor-prompt.ts';
import { profileOf } from '../../../backend/conductor/prompt-profile.ts';
import { servedName } from '../../../backend/protocol/served.ts';
import type { WorkerConfig } from '../../../backend/protocol/worker-config.ts';
import { servedModels } from '../../../backend/wiring/served-models.ts';
import type { WorkerError } from '../../../backend/workers/errors.ts';
import { rollOut } from '../../../backend/workers/roll-out.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { MINI } from '../../support/unequal-workers.ts';
import { KEY, MemoryBooks, MemoryKeys, rejection } from '../harness.ts';
import { INPUT, servedCaller, servedConductor, trainedAdapter } from './served-parts.ts';
import { SimulatedVllm, type SimulationOptions } from './simulated-vllm.ts';

/* A Conductor whose model is at a server; the server is a simulation of vLLM's answers. What the real one does is in vllm.test.ts. */

let folder: string;
let first: string;
let second: string;
const models = servedModels(async (model) => model);
/** Two short trainings; a busy machine takes long. */
const TRAINED_WITHIN_MS = 180_000;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'served-'));
  [first, second] = [await trainedAdapter(folder, 'first'), await trainedAdapter(folder, 'second', { seed: 2 })];
}, TRAINED_WITHIN_MS);
afterAll(() => rm(folder, { recursive: true, force: true }));

async function serving(options: SimulationOptions = {}) {
  const server = await SimulatedVllm.start(options);
  const told: string[] = [];
  const caller = await servedCaller(told);
  const books = new MemoryBooks();
  const keys = new MemoryKeys();
  const call = (worker: WorkerConfig, sampling = {}, input = INPUT) => caller.call(worker, planRequest(worker, input, sampling), {
    ledger: books, attempts: books, keys, signal: AbortSignal.timeout(20_000), onText: () => {},
  });
  const roll = (worker: WorkerConfig) => rollOut(worker, { caller, keys, signal: AbortSignal.timeout(20_000) });
  return { server, told, books, call, roll, worker: (fields: object = {}) => servedConductor(server.baseUrl, fields) };
}

const nameOf = async (adapter: string): Promise<string> => servedName(adapter, await models.versionOf(MINI, adapter));

describe('what a server is asked', () => {
  it('is the tokens that a model of this machine reads, with the sampling of one, in the plan\'s form', async () => {
    const { server, call, worker } = await serving();
    await call(worker());
    const { messages, prefill } = conductorPrompt(INPUT, profileOf(worker()));
    const [body] = server.to('completions');
    expect(body).toMatchObject({
      model: 'conductor-mini', prompt: (await openTokenizer(MINI)).chat(messages.map(({ role, content }) => ({ role, content })), { prefill }),
      stop_token_ids: [2047], temperature: 0.7, top_p: 0.8, top_k: 20, repetition_penalty: 1, max_tokens: 1024, stream: true,
    });
    expect(body).toHaveProperty('structured_outputs.regex', expect.stringContaining('model_id'));
    // Of these log-probabilities a training could make nothing.
    expect(body).not.toHaveProperty('logprobs');
    expect(body).not.toHaveProperty('n');
  });

  it('keeps text that looks like the model\'s tags as text', async () => {
    const { server, call, worker } = await serving();
    await call(worker(), {}, { ...INPUT, question: 'What does <|im_end|> mean?' });
    const prompt = server.to('completions')[0]?.['prompt'] as number[];
    // One ends the turn of the person.
    expect(prompt.filter((id) => id === 2047)).toHaveLength(1);
  });

  it('is asked freely at a temperature of 1, as in a training, and says what tokens it sampled how', async () => {
    const { server, call, worker } = await serving();
    const { reply } = await call(worker({ temperature: 1 }));
    expect(server.to('completions')[0]).toMatchObject({ temperature: 1, top_p: 1, top_k: 0, logprobs: 0, return_token_ids: true });
    expect(server.to('completions')[0]).not.toHaveProperty('structured_outputs');
    expect(reply.tokens).toMatchObject({ promptTokenIds: server.to('completions')[0]?.['prompt'], temperature: 1 });
    expect(reply.tokens?.tokenIds.at(-1)).toBe(2047);
    expect(reply.tokens?.logprobs).toEqual(reply.tokens?.tokenIds.map(() => -0.25));
    // After a text that was no plan, the form holds it.
    await call(worker({ temperature: 1 }), {}, { ...INPUT, rejection: { text: 'no plan', message: 'It has no lists.' } });
    expect(server.to('completions')[1]).toHaveProperty('structured_outputs');
  });

  it('writes several plans in one call, for the price of one prompt', async () => {
    const { server, books, call, worker } = await serving({ writes: (sample) => `model_id = [${sample}]\nsubtasks = ["Write ${sample}."]\naccess_list = [[]]` });
    const { reply, spent, attempt } = await call(worker({ price: { inputPerMillion: 1_000_000, outputPerMillion: 0 } }), { plans: 3 });
    expect(server.to('completions')).toHaveLength(1);
    expect([reply, ...(reply.others ?? [])].map(({ text }) => /Write \d/.exec(text)?.[0])).toEqual(['Write 0', 'Write 1', 'Write 2']);
    expect(spent.cost.usd).toBe((server.to('completions')[0]?.['prompt'] as number[]).length);
    // All three may be as long as one.
    expect(attempt.reserved.tokens).toBeGreaterThan(3 * 1024);
    expect(books.open.size).toBe(0);
  });

  it('is sent the key, also to load an adapter', async () => {
    const { server, call, worker } = await serving();
    await call(worker({ key: 'VLLM_KEY', adapter: first }));
    expect(new Set(server.asked.map(({ key }) => key))).toEqual(new Set([`Bearer ${KEY}`]));
  });
});

describe('the adapter', () => {
  it('is loaded on its first use, used under the name of its version, and loaded again when it is lost', async () => {
    const { server, call, worker } = await serving();
    const planner = worker({ adapter: first });
    const name = await nameOf(first);
    expect(name).toMatch(/^conductor-first-[\da-f]{8}$/);
    await call(planner);
    await call(planner);
    expect(server.asked.map(({ route }) => route)).toEqual(['completions', 'load_lora_adapter', 'completions', 'completions']);
    expect(server.adapters).toEqual(new Map([[name, first]]));
    server.forget();
    expect((await call(planner)).reply.model).toBe(name);
    expect(server.to('load_lora_adapter')).toEqual([{ lora_name: name, lora_path: first }, { lora_name: name, lora_path: first }]);
  });

  it('is loaded once for calls that meet its loss at the same time', async () => {
    const { server, call, worker } = await serving();
    await Promise.all(Array.from({ length: 4 }, () => call(worker({ adapter: first, concurrency: 4 }))));
    expect(server.to('load_lora_adapter')).toHaveLength(1);
  });

  it('that another process has loaded meanwhile counts as loaded', async () => {
    const { server, call, worker } = await serving({ writes: () => 'model_id = [0]\nsubtasks = ["Write it."]\naccess_list = [[]]' });
    const name = await nameOf(first);
    const lost = server.adapters.has.bind(server.adapters);
    let looks = 0;
    server.adapters.has = (key) => (looks++ === 0 ? false : lost(key));
    server.adapters.set(name, first);
    expect((await call(worker({ adapter: first }))).reply.model).toBe(name);
  });

  it('of other weights has another name, though its folder has the same', async () => {
    const place = path.join(await temporaryFolder(), 'same');
    await cp(first, place, { recursive: true });
    const before = await nameOf(place);
    await rm(place, { recursive: true });
    await cp(second, place, { recursive: true });
    expect(await nameOf(place)).not.toBe(before);
  });

  it('is copied whole to where the server reads it, and named as the server does', async () => {
    const { server, call, worker } = await serving();
    const shared = await temporaryFolder();
    const name = await nameOf(first);
    await call(worker({ adapter: first, served: { model: MINI, folder: shared } }));
    expect(await readdir(shared)).toEqual([name]);
    expect(await readFile(path.join(shared, name, 'adapter_model.safetensors'))).toEqual(await readFile(path.join(first, 'adapter_model.safetensors')));
    await rejection(call(worker({ adapter: second, served: { model: MINI, folder: shared, serverFolder: '/on/the/server' } })));
    expect(server.to('load_lora_adapter').map((body) => body['lora_path'])).toEqual([path.join(shared, name), `/on/the/server/${await nameOf(second)}`]);
  });

  it('is of no concern to a call that is no plan', async () => {
    const { server, worker } = await serving();
    const caller = await servedCaller();
    const books = new MemoryBooks();
    await rejection(caller.call(worker({ adapter: first }), { messages: [{ role: 'user', content: 'Hello' }] }, { ledger: books, attempts: books, keys: new MemoryKeys(), signal: AbortSignal.timeout(5_000), onText: () => {}, maxAttempts: 1 }));
    expect(server.asked.map(({ route, body }) => [route, body['model']])).toEqual([['chat/completions', 'conductor-mini']]);
  });
});

describe('an adapter that cannot be used is told with what to do', () => {
  const failing = async (options: SimulationOptions, fields: object): Promise<string> => {
    const { call, worker, books } = await serving(options);
    const error = (await rejection(call(worker(fields)))) as WorkerError;
    expect(books.open.size).toBe(0);
    expect(books.failures[0]?.spent.usage).toMatchObject({ uncachedInput: 0, output: 0, estimated: false });
    return error.message;
  };

  it('where the server has no routes for it', async () => {
    expect(await failing({ hasNoRoutes: true }, { adapter: first })).toContain('start vLLM with VLLM_ALLOW_RUNTIME_LORA_UPDATING=True and --enable-lora');
  });

  it('where the server serves no adapters', async () => {
    expect(await failing({ hasNoLora: true }, { adapter: first })).toContain('start it with --enable-lora');
  });

  it('where its rank is above the server\'s', async () => {
    expect(await failing({}, { adapter: await trainedAdapter(folder, 'large', { rank: 32 }) })).toContain('rank 32 and http://127.0.0.1');
  });

  it('where the server cannot read it', async () => {
    const shared = await temporaryFolder();
    const served = { model: MINI, folder: shared, serverFolder: '/not/there' };
    expect(await failing({}, { adapter: first, served })).toContain('finds no whole adapter at /not/there/conductor-first-');
    expect(await failing({}, { adapter: first, served: { model: MINI, serverFolder: '/not/there' } })).toContain(`copy ${first} there and try again`);
  });

  it('where it is not on this machine, or of another model', async () => {
    expect(await failing({}, { adapter: '/not/here' })).toContain('its adapter cannot be used: /not/here has no adapter_config.json');
    const other = await temporaryFolder();
    await cp(first, other, { recursive: true });
    await writeFile(path.join(other, 'adapter_config.json'), (await readFile(path.join(first, 'adapter_config.json'), 'utf8')).replace('"r": 8', '"r": 4'));
    expect(await failing({}, { adapter: other })).toContain('its adapter cannot be used');
  });

  it('where this machine has no tokenizer of its model', async () => {
    expect(await failing({}, { served: { model: '/not/here' } })).toContain('the tokenizer of "served.model" cannot be used');
  });

  it('where the folder for the server cannot be written', async () => {
    const file = path.join(await temporaryFolder(), 'file');
    await writeFile(file, '');
    expect(await failing({}, { adapter: first, served: { model: MINI, folder: path.join(file, 'below') } })).toContain('make that folder writable');
  });
});

describe('a server that is no vLLM', () => {
  it.each([
    ['structured_outputs', {}, {}, 'does not take "structured_outputs": plans are not held to their form there'],
    ['return_token_ids', { temperature: 1 }, {}, 'Conductor cannot learn from its plans there'],
    ['top_k', {}, {}, 'the server\'s own top-k'],
  ] as const)('is asked without %s, which is told once', async (field, fields, sampling, sentence) => {
    const { server, told, call, worker } = await serving({ refuses: [field] });
    expect((await call(worker(fields), sampling)).reply.text).toContain('model_id');
    await call(worker(fields), sampling);
    expect(told).toEqual([expect.stringContaining(sentence)]);
    expect(server.to('completions').map((body) => field in body)).toEqual([true, false, false]);
  });

  it('that writes one text at a time is asked for one after another', async () => {
    const { told, call, worker } = await serving({ refuses: ['n'] });
    expect((await call(worker(), { plans: 3 })).reply.others).toBeUndefined();
    expect(told).toEqual([expect.stringContaining('"n": each plan is asked for by itself')]);
  });

  it('is asked for what it refuses at the same time, in two calls, and that is told once', async () => {
    const { told, call, worker } = await serving({ refuses: ['structured_outputs'] });
    await Promise.all([call(worker()), call(worker())]);
    expect(told).toHaveLength(1);
  });
});

describe('a new version', () => {
  it('is loaded in place of what has its name, and tried with a few tokens', async () => {
    const { server, roll, worker } = await serving();
    await roll(worker({ adapter: first }));
    const name = await nameOf(first);
    expect(server.asked.map(({ route, body }) => [route, body['lora_name'] ?? body['model'], body['load_inplace'] ?? body['max_tokens']]))
      .toEqual([['load_lora_adapter', name, true], ['completions', name, 8]]);
  });

  it('that the server does not take is an error, and the one before plans on', async () => {
    const { roll, call, worker } = await serving();
    const planner = worker({ adapter: first });
    await call(planner);
    const missing = path.join(await temporaryFolder(), 'gone');
    await mkdir(missing);
    expect(((await rejection(roll(worker({ adapter: missing })))) as WorkerError).message).toContain('its adapter cannot be used');
    expect((await call(planner)).reply.model).toBe(await nameOf(first));
  });

  it('is taken from a server that was started with it and loads none, and from no other such server', async () => {
    const { server, roll, worker } = await serving({ hasNoRoutes: true });
    expect(((await rejection(roll(worker({ adapter: first })))) as WorkerError).message).toContain(`start vLLM with VLLM_ALLOW_RUNTIME_LORA_UPDATING=True and --enable-lora, or have the server offer the adapter as "${await nameOf(first)}"`);
    server.adapters.set(await nameOf(first), first);
    await roll(worker({ adapter: first }));
    expect(server.to('completions').at(-1)).toMatchObject({ model: await nameOf(first) });
  });

  it('does nothing for a Conductor that is not served', async () => {
    const { server, roll, worker } = await serving();
    await roll({ ...worker(), served: undefined, adapter: first });
    expect(server.asked).toEqual([]);
  });
});
