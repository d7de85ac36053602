import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DecoderConfig } from '../../../backend/lm/checkpoint/decoder-config.ts';
import type { Example, PolicyLoss } from '../../../backend/train/engines/engine.ts';
import { TinkerClient } from '../../../backend/train/engines/remote/client.ts';
import { RemoteEngine } from '../../../backend/train/engines/remote/remote-engine.ts';
import { RemoteError } from '../../../backend/train/engines/remote/remote-error.ts';
import { readRemoteState } from '../../../backend/train/engines/remote/remote-state.ts';
import { SEVEN_BILLION } from '../../lm/geometries.ts';
import { adapterArchive } from './adapter-archive.ts';
import { type Fate, SimulatedTinker } from './simulated-tinker.ts';

const LOSS: PolicyLoss = { type: 'grpo', clip: { low: 0.2, high: 0.2 }, klCoefficient: 0, importanceRatioCap: 2, temperature: 1, maxCompletionLength: 8 };
const example = (tokens: number): Example => ({
  promptTokens: [1, 2, 3], tokens: new Array<number>(tokens).fill(5), samplerLogprobs: new Array<number>(tokens).fill(-1), advantage: 1,
});
const SMALL: DecoderConfig = { ...SEVEN_BILLION, hiddenSize: 8, intermediateSize: 8, layers: 1, attentionHeads: 1, keyValueHeads: 1, headSize: 8 };
const REQUEST = { messages: [], maxTokens: 4, temperature: 1, seeds: [1, 2] };
const TOKENIZER = { chat: () => [1, 2, 3], decode: (ids: readonly number[]) => ids.join(' '), stopTokenIds: [9] };

let folder: string;
let tinker: SimulatedTinker;
const engines: RemoteEngine[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'conductor-remote-'));
});
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
  await tinker.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(from?: Awaited<ReturnType<typeof readRemoteState>>, versionsKept?: number): Promise<RemoteEngine> {
  const engine = new RemoteEngine({
    client: new TinkerClient({ url: tinker.url, waits: [1, 1], key: async () => 'the-key' }),
    model: { baseModel: 'small', rank: 8, seed: 1 }, tokenizer: TOKENIZER, config: SMALL, contextLength: 10, versions: folder, from, versionsKept,
  });
  engines.push(engine);
  await engine.begin();
  return engine;
}

/** Does a step on a batch whose completion has so many tokens. */
async function step(engine: RemoteEngine, tokens: number): Promise<void> {
  await engine.forwardBackward(LOSS, [example(tokens)]);
  await engine.optimStep({ learningRate: 1e-3, gradientClip: 1 });
}

/** What was done to the weights of the one model that the server has. */
function weights(): readonly string[] {
  expect(tinker.models.size).toBe(1);
  return [...tinker.models.values()][0]!.weights;
}

/** Steps on completions of these lengths, behind a prompt of three tokens. */
const stepsOn = (...lengths: readonly number[]): string[] => lengths.map((length) => `step(importance_sampling ${length + 2})`);

describe.each(['json', 'protobuf'] as const)('a training server (a simulation that speaks %s)', (speaks) => {
  beforeEach(async () => {
    tinker = await SimulatedTinker.start({ speaks, archive: await adapterArchive(SMALL, path.join(folder, 'downloaded')) });
  });

  /** The first call of this verb meets its fate. */
  const once = (verb: string, fate: Fate): void => {
    let isDone = false;
    tinker.fate = (called) => {
      if (called !== verb || isDone) return undefined;
      isDone = true;
      return fate;
    };
  };

  it('samples, computes gradients and makes steps', async () => {
    const engine = await open();
    expect(await engine.sample({ messages: [], maxTokens: 20, temperature: 1, seeds: [1, 2] })).toEqual([1, 2].map(() => (
      { promptTokens: [1, 2, 3], tokens: [7, 9], logprobs: [-1, -1], text: '7', finishReason: 'stop' })));
    const sampled = tinker.calls.filter(({ verb }) => verb === 'asample').map(({ body }) => body['sampling_params']);
    expect(sampled).toEqual([1, 2].map((seed) => expect.objectContaining({ seed, temperature: 1, max_tokens: 7, stop: [9] })));
    const { loss, logprobs, entropies } = await engine.forwardBackward(LOSS, [example(2), { ...example(4), advantage: -1 }]);
    expect({ loss, logprobs, entropies }).toEqual({ loss: 0, logprobs: [[-1, -1], [-1, -1, -1, -1]], entropies: undefined });
    expect(await engine.optimStep({ learningRate: 1e-3, gradientClip: 1 })).toEqual({ gradientNorm: 4 });
    expect(weights()).toEqual(['step(importance_sampling 4 6)']);
    expect(new Set(tinker.calls.map(({ key }) => key))).toEqual(new Set(['the-key']));
  });

  it('never uses the number of a call for another body', async () => {
    const engine = await open();
    await step(engine, 2);
    await engine.saveState(path.join(folder, 'step-000001', 'engine'));
    await step(engine, 3);
    const numbers = tinker.calls.flatMap(({ body }) => (typeof body['seq_id'] === 'number' ? [body['seq_id']] : []));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  it.each(['forward_backward', 'optim_step', 'save_weights', 'create_model', 'retrieve_future', 'forward'])('counts no batch twice where the connection breaks after %s is done', async (verb) => {
    once(verb, 'breaks');
    const engine = await open();
    await step(engine, 2);
    await engine.saveState(path.join(folder, 'step-000001', 'engine'));
    once(verb, 'breaks');
    await step(engine, 3);
    expect([...tinker.models.values()].map((model) => model.weights)).toContainEqual(stepsOn(2, 3));
  });

  it('gives a server that forgot everything but what was saved a new session and model, with what was done since', async () => {
    const engine = await open();
    await step(engine, 2);
    await engine.saveState(path.join(folder, 'step-000001', 'engine'));
    await step(engine, 3);
    tinker.forget();
    await step(engine, 4);
    expect(weights()).toEqual(stepsOn(2, 3, 4));
  });

  it('goes on from the last saved weights in another process, and frees the place of the one before', async () => {
    const killed = await open();
    await step(killed, 2);
    const state = path.join(folder, 'step-000001', 'engine');
    await killed.saveState(state);
    await step(killed, 3);
    const engine = await open(await readRemoteState(state));
    expect(weights()).toEqual(stepsOn(2));
    await step(engine, 3);
    expect(weights()).toEqual(stepsOn(2, 3));
    expect(JSON.parse(await readFile(path.join(state, 'remote.json'), 'utf8'))).toMatchObject({ format: 1 });
  });

  it('samples the version that it saved last where another process goes on, and where the server forgot its models', async () => {
    const sampled = async (engine: RemoteEngine): Promise<unknown> => {
      await engine.sample(REQUEST);
      return tinker.saved.get(String(tinker.calls.findLast(({ verb }) => verb === 'asample')?.body['model_path']));
    };
    const killed = await open();
    expect(await sampled(killed)).toBeUndefined();
    await step(killed, 2);
    await killed.saveForSampler('step-000001');
    const state = path.join(folder, 'step-000001', 'engine');
    await killed.saveState(state);
    const engine = await open(await readRemoteState(state));
    expect(await sampled(engine)).toEqual(stepsOn(2));
    tinker.forget();
    expect(await sampled(engine)).toEqual(stepsOn(2));
    await step(engine, 3);
    await engine.saveForSampler('step-000002');
    tinker.forget();
    expect(await Promise.all([sampled(engine), sampled(engine)])).toEqual([stepsOn(2, 3), stepsOn(2, 3)]);
    expect(weights()).toEqual(stepsOn(2, 3));
    expect(await engine.sample({ ...REQUEST, version: 'initial' })).toHaveLength(2);
  });

  it('keeps on the server what three states and one version need, where the server can remove the others', async () => {
    const kept = (kind: string): readonly (readonly string[])[] => [...tinker.saved].filter(([saved]) => saved.includes(`/${kind}/`)).map(([, done]) => done);
    let engine = await open();
    for (const tokens of [1, 2, 3, 4, 5, 6]) {
      await step(engine, tokens);
      await engine.saveForSampler(`step-${tokens}`);
      const state = path.join(folder, `step-${tokens}`, 'engine');
      await engine.saveState(state);
      if (tokens === 4) engine = await open(await readRemoteState(state));
    }
    const states = [1, 2, 3, 4, 5, 6].map((last) => stepsOn(...[1, 2, 3, 4, 5, 6].slice(0, last)));
    // SkyRL 0.3.0 removes nothing.
    expect(kept('weights')).toEqual(speaks === 'json' ? states : states.slice(3));
    expect(kept('sampler_weights').at(-1)).toEqual(states.at(-1));
    if (speaks === 'protobuf') expect(kept('sampler_weights')).toHaveLength(1);
  });

  it('keeps the versions before for other machines, and removes them also when they were saved before a restart', async () => {
    let engine = await open(undefined, 2);
    for (const tokens of [1, 2, 3, 4]) {
      await step(engine, tokens);
      await engine.saveForSampler(`step-${tokens}`);
      const state = path.join(folder, `step-${tokens}`, 'engine');
      await engine.saveState(state);
      if (tokens === 3) engine = await open(await readRemoteState(state), 2);
    }
    const kept = [...tinker.saved].filter(([saved]) => saved.includes('/sampler_weights/')).map(([, done]) => done);
    if (speaks === 'protobuf') expect(kept).toEqual([stepsOn(1, 2, 3), stepsOn(1, 2, 3, 4)]);
    else expect(kept.length).toBeGreaterThan(4);
  });

  it('waits for a server that is busy', async () => {
    once('create_session', { status: 503, detail: 'busy' });
    await step(await open(), 2);
    expect(weights()).toEqual(stepsOn(2));
  });

  it('says what to do where a server has no place, refuses the rank or the key, or has lost the weights', async () => {
    const problems: string[] = [];
    const problem = async (fate: (verb: string) => Fate, state?: Parameters<typeof open>[0]): Promise<void> => {
      tinker.fate = fate;
      problems.push(await open(state).then(() => 'opened', (error: unknown) => (error instanceof RemoteError ? `${error.kind}: ${error.message.replace(tinker.url, 'URL')}` : String(error))));
    };
    const on = (verb: string, fate: Fate) => (called: string): Fate => (called === verb ? fate : undefined);
    await problem(on('create_model', { status: 400, detail: 'Maximum number of LoRA adapters (4) reached' }));
    await problem(on('create_model', { status: 400, detail: 'LoRA rank 64 must be between 1 and 16' }));
    await problem(on('create_session', { status: 401, detail: 'no such key' }));
    await problem(() => undefined, { format: 1, weights: 'tinker://model_1/weights/lost', samplersBefore: [], earlier: [] });
    await problem(on('create_session', { status: 503, detail: '' }));
    expect(problems).toEqual([
      'full: The training server URL has no place for another adapter (status 400: Maximum number of LoRA adapters (4) reached): end a training there, or start it with a larger max_lora_adapters; the place of a training that was cut off is free after five minutes.',
      "refused: The training server URL refuses what it is asked (status 400: LoRA rank 64 must be between 1 and 16): change the training's settings, or ask whoever runs the server.",
      'key: The training server URL refuses the key (status 401: no such key): name the right one in "engine.key" and set it.',
      'refused: The training server URL does not have the weights tinker://model_1/weights/lost any more: start another training, or restore its checkpoints and resume.',
      'unreachable: The training server URL does not answer (status 503): start it, or check "engine.url", then resume the training.',
    ]);
  });

  it('asks again after 408, and refuses answers that are not of the API', async () => {
    once('retrieve_future', { status: 408, detail: 'Timeout waiting for result' });
    const engine = await open();
    once('retrieve_future', { status: 200, detail: 'not what was asked for' });
    await expect(engine.forward([example(2)], 1)).rejects.toMatchObject({ kind: 'malformed' });
  });
});
