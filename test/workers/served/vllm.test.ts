import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parsePlan } from '../../../backend/conductor/parse-plan.ts';
import { planRequest, type PlanSampling } from '../../../backend/conductor/plan-request.ts';
import { servedName } from '../../../backend/protocol/served.ts';
import type { WorkerConfig } from '../../../backend/protocol/worker-config.ts';
import { servedModels } from '../../../backend/wiring/served-models.ts';
import type { WorkerCaller } from '../../../backend/workers/call-worker.ts';
import type { WorkerError } from '../../../backend/workers/errors.ts';
import type { Sample } from '../../../backend/workers/model.ts';
import { rollOut, withdraw } from '../../../backend/workers/roll-out.ts';
import { MINI } from '../../support/unequal-workers.ts';
import { MemoryBooks, MemoryKeys, rejection } from '../harness.ts';
import { INPUT, ownLogprobs, servedCaller, servedConductor, trainedAdapter } from './served-parts.ts';

/*
 * conductor-mini at a real vLLM on a CPU, with adapters that our trainer made. CONDUCTOR_TEST_VLLM names a Python that has vLLM, or the address of a
 * server on this machine; docs/outgrow.md says how both are had. vLLM takes one to four minutes until it answers.
 */
const given = process.env['CONDUCTOR_TEST_VLLM'];
const note = given === undefined ? 'not tried: CONDUCTOR_TEST_VLLM names no Python with vLLM and no server' : 'tried';
/** On an idle machine it takes one minute, beside a load of 30 fifteen. */
const STARTS_WITHIN_MS = 1_200_000;

let server: ChildProcess | undefined;
let baseUrl = '';
let folder = '';
let one: string;
let two: string;
let caller: WorkerCaller;
const told: string[] = [];
const models = servedModels(async (model) => model);

describe.skipIf(given === undefined)(`vLLM serves a Conductor (${note})`, { timeout: 120_000 }, () => {
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'served-vllm-'));
    if (/^https?:/.test(given!)) baseUrl = given!.replace(/\/+$/, '').replace(/(\/v1)?$/, '/v1');
    else baseUrl = await startVllm(given!);
    [one, two] = [await trainedAdapter(folder, 'one'), await trainedAdapter(folder, 'two', { seed: 2 })];
    caller = await servedCaller(told);
  }, STARTS_WITHIN_MS);
  afterAll(end, 60_000);

  it.each([['without an adapter', undefined], ['with an adapter', 'one'], ['with another one', 'two']])('%s, its log-probabilities are those of this machine', async (_name, adapter) => {
    const place = adapter && path.join(folder, adapter);
    const planner = worker({ temperature: 1, ...(place && { adapter: place }) });
    const { samples, model } = await plans(planner, { plans: 4 });
    expect(model).toBe(place ? await nameOf(place) : 'conductor-mini');
    expect(samples).toHaveLength(4);
    const tokens = samples.map((sample) => sample.tokens!);
    const own = await ownLogprobs(tokens, { adapter: place, storage: folder });
    const apart = Math.max(...tokens.flatMap(({ logprobs }, index) => logprobs.map((value, at) => Math.abs(value - own[index]![at]!))));
    if (process.env['CONDUCTOR_TEST_TABLE'] !== undefined) console.log(JSON.stringify({ adapter, tokens: tokens.flatMap(({ tokenIds }) => tokenIds).length, apart }));
    expect(apart).toBeLessThan(1e-4);
    // The weights differ, so those of another adapter would not do.
    const others = await ownLogprobs(tokens, { adapter: adapter === 'one' ? two : one, storage: folder });
    expect(Math.max(...others.flatMap((row, index) => row.map((value, at) => Math.abs(value - own[index]![at]!))))).toBeGreaterThan(1e-3);
  });

  it('holds plans to their form, several at once', async () => {
    const { samples } = await plans(worker(), { plans: 3, temperature: 1.5, constrained: true });
    const whole = samples.filter(({ finishReason }) => finishReason === 'stop');
    expect(whole.map(({ text }) => parsePlan(text, { workerCount: 2, round: 0 }).kind)).toEqual(whole.map(() => 'plan'));
    expect(whole.length).toBeGreaterThan(0);
    expect(told).toEqual([]);
  });

  it('loses an adapter under load, and has it again: no plan is lost', async () => {
    const planner = worker({ adapter: one, concurrency: 8 });
    const name = await nameOf(one);
    let unloaded = 0;
    const asking = Promise.all(Array.from({ length: 16 }, async (_, index) => {
      // A server that was started again has none of its adapters.
      if (index % 4 === 1 && (await post('unload_lora_adapter', { lora_name: name })) === 200) unloaded += 1;
      return (await plans(planner, {})).model;
    }));
    expect(new Set(await asking)).toEqual(new Set([name]));
    await plans(planner, {});
    expect(await post('unload_lora_adapter', { lora_name: name })).toBe(200);
    expect((await plans(planner, {})).model).toBe(name);
    expect(unloaded).toBeGreaterThan(0);
  });

  it('gets a new version while the one before plans, and both keep their own weights', async () => {
    const [before, after] = [worker({ adapter: one, temperature: 1, concurrency: 8 }), worker({ adapter: two, temperature: 1, concurrency: 8 })];
    const load = Array.from({ length: 8 }, () => plans(before, {}));
    await roll(after);
    const mixed = await Promise.all([...load, ...Array.from({ length: 4 }, () => plans(after, {}))]);
    for (const [adapter, results] of [[one, mixed.slice(0, 8)], [two, mixed.slice(8)]] as const) {
      const tokens = results.map(({ samples: [sample] }) => sample!.tokens!);
      const own = await ownLogprobs(tokens, { adapter, storage: folder });
      expect(Math.max(...tokens.flatMap(({ logprobs }, index) => logprobs.map((value, at) => Math.abs(value - own[index]![at]!))))).toBeLessThan(1e-4);
    }
  });

  it('takes other weights in place under one name, under load', async () => {
    const name = 'swapped';
    const states = [one, two].map((adapter) => post('load_lora_adapter', { lora_name: name, lora_path: adapter, load_inplace: true }));
    expect(await Promise.all(states)).toEqual([200, 200]);
    expect(await post('load_lora_adapter', { lora_name: name, lora_path: two })).toBe(400);
    const planner = worker({ model: name, temperature: 1, concurrency: 8 });
    const load = Array.from({ length: 6 }, () => plans(planner, {}));
    expect(await post('load_lora_adapter', { lora_name: name, lora_path: one, load_inplace: true })).toBe(200);
    await Promise.all(load);
    const tokens = (await plans(planner, {})).samples.map((sample) => sample.tokens!);
    const own = await ownLogprobs(tokens, { adapter: one, storage: folder });
    expect(Math.max(...tokens.flatMap(({ logprobs }, index) => logprobs.map((value, at) => Math.abs(value - own[index]![at]!))))).toBeLessThan(1e-4);
  });

  it('says what is wrong with an adapter that it does not take', async () => {
    const large = await trainedAdapter(folder, 'large', { rank: 32 });
    expect(((await rejection(roll(worker({ adapter: large })))) as WorkerError).message).toContain('start it with --max-lora-rank 32');
    const elsewhere = worker({ adapter: one, served: { model: MINI, serverFolder: path.join(folder, 'nowhere') } });
    const planner = worker({ adapter: one });
    await post('unload_lora_adapter', { lora_name: await nameOf(one) });
    expect(((await rejection(roll(elsewhere))) as WorkerError).message).toContain('finds no whole adapter at');
    expect((await plans(planner, {})).model).toBe(await nameOf(one));
  });

  it('forgets adapters that nobody plans with any more, and loads them again where they are asked for', async () => {
    const listed = async (): Promise<string[]> => ((await (await fetch(`${baseUrl}/models`)).json()) as { data: { id: string }[] }).data.map(({ id }) => id);
    for (const adapter of [one, two]) await roll(worker({ adapter }));
    expect(await listed()).toEqual(expect.arrayContaining([await nameOf(one), await nameOf(two)]));
    const load = Array.from({ length: 4 }, () => plans(worker({ adapter: one, concurrency: 4 }), {}));
    await withdraw(worker({ adapter: two }), [one], { caller, keys: new MemoryKeys(), signal: AbortSignal.timeout(60_000) });
    await Promise.all(load);
    await withdraw(worker({ adapter: two }), [one], { caller, keys: new MemoryKeys(), signal: AbortSignal.timeout(60_000) });
    expect(await listed()).not.toContain(await nameOf(one));
    expect(await listed()).toContain(await nameOf(two));
    expect((await plans(worker({ adapter: one }), {})).model).toBe(await nameOf(one));
  });

  it('reads adapters from a folder that it shares with this machine', async () => {
    const copy = path.join(folder, 'copied');
    await cp(two, copy, { recursive: true });
    const planner = worker({ adapter: copy, served: { model: MINI, folder: path.join(folder, 'shared') } });
    expect((await plans(planner, {})).model).toBe(await nameOf(copy));
    expect((await stat(path.join(folder, 'shared', await nameOf(copy)))).isDirectory()).toBe(true);
  });
});

describe.skipIf(given === undefined || /^https?:/.test(given))(`vLLM that loads no adapters while it runs (${note})`, { timeout: 120_000 }, () => {
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'served-vllm-'));
    [one, two] = [await trainedAdapter(folder, 'one'), await trainedAdapter(folder, 'two', { seed: 2 })];
    caller = await servedCaller(told);
    baseUrl = await startVllm(given!, { updating: false, more: ['--lora-modules', `${await nameOf(one)}=${one}`] });
  }, STARTS_WITHIN_MS);
  afterAll(end, 60_000);

  it('plans with the adapter that it was started with, and says how it takes another', async () => {
    await roll(worker({ adapter: one }));
    expect((await plans(worker({ adapter: one }), {})).model).toBe(await nameOf(one));
    const { message } = (await rejection(roll(worker({ adapter: two })))) as WorkerError;
    expect(message).toContain(`does not load adapters while it runs; start vLLM with VLLM_ALLOW_RUNTIME_LORA_UPDATING=True and --enable-lora, or have the server offer the adapter as "${await nameOf(two)}"`);
    if (process.env['CONDUCTOR_TEST_TABLE'] !== undefined) console.log(message);
  });
});

const worker = (fields: object = {}): WorkerConfig => servedConductor(baseUrl, fields);
const nameOf = async (adapter: string): Promise<string> => servedName(adapter, await models.versionOf(MINI, adapter));
const roll = (planner: WorkerConfig): Promise<void> => rollOut(planner, { caller, keys: new MemoryKeys(), signal: AbortSignal.timeout(60_000) });

async function plans(planner: WorkerConfig, sampling: PlanSampling): Promise<{ readonly samples: readonly Sample[]; readonly model: string }> {
  const books = new MemoryBooks();
  const { reply } = await caller.call(planner, planRequest(planner, INPUT, { maxTokens: 256, ...sampling }), {
    ledger: books, attempts: books, keys: new MemoryKeys(), signal: AbortSignal.timeout(100_000), onText: () => {},
  });
  expect(books.open.size).toBe(0);
  return { samples: [reply, ...(reply.others ?? [])], model: reply.model };
}

async function post(route: string, body: object): Promise<number> {
  const response = await fetch(`${baseUrl}/${route}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  await response.text();
  return response.status;
}

async function end(): Promise<void> {
  if (server?.pid !== undefined && server.exitCode === null) {
    const ended = once(server, 'exit');
    process.kill(-server.pid, 'SIGTERM');
    await ended;
  }
  if (folder !== '') await rm(folder, { recursive: true, force: true });
}

/** Starts vLLM with conductor-mini. It ends with the tests. @returns the address of its API */
async function startVllm(python: string, { updating = true, more = [] }: { readonly updating?: boolean; readonly more?: readonly string[] } = {}): Promise<string> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  let said = '';
  server = spawn(python, [
    '-m', 'vllm.entrypoints.cli.main', 'serve', MINI, '--served-model-name', 'conductor-mini', '--host', '127.0.0.1', '--port', String(port),
    '--enable-lora', '--max-lora-rank', '16', '--max-loras', '2', '--max-cpu-loras', '8', '--dtype', 'float32', '--enforce-eager', ...more,
  ], {
    detached: true, stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...(updating && { VLLM_ALLOW_RUNTIME_LORA_UPDATING: 'True' }), VLLM_CPU_KVCACHE_SPACE: '1', HF_HUB_OFFLINE: '1', VLLM_NO_USAGE_STATS: '1', PATH: `${path.dirname(python)}:${process.env['PATH'] ?? ''}` },
  });
  for (const stream of [server.stdout, server.stderr]) stream?.on('data', (text: Buffer) => (said = (said + text.toString()).slice(-4_000)));
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    if (server.exitCode !== null) throw new Error(`vLLM ended (${server.exitCode}): ${said}`);
    const isReady = await fetch(`${url}/health`).then(({ ok }) => ok, () => false);
    if (isReady) return `${url}/v1`;
    await delay(1_000);
  }
}
