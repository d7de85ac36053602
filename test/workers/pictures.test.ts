import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { SERVER_PROVIDER_NAMES } from '../../backend/protocol/providers.ts';
import { SimulatorServer } from '../../backend/simulator/server.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { pictureTokens } from '../../backend/workers/limits/picture-tokens.ts';
import { upperBound } from '../../backend/workers/limits/prices.ts';
import { TWO_COLOURS } from '../../backend/workers/try-pictures.ts';
import { tryWorker } from '../../backend/workers/try-worker.ts';
import { FaultServer, faults } from './fault-server.ts';
import { rejection, setUp, workerOf, workersAt } from './harness.ts';

/* How pictures leave the machine in each wire format, and what a try tells of who sees them. */

let server: FaultServer;
let simulator: SimulatorServer;

beforeAll(async () => {
  server = await FaultServer.start();
  simulator = await SimulatorServer.start({ seed: 1, latency: 0 });
});
afterAll(async () => {
  await server.stop();
  await simulator.close();
});

const picture = { type: 'image/png', data: TWO_COLOURS, tokens: 400 };
const shown = { messages: [{ role: 'user' as const, content: 'What is wrong here?', sharedPrefix: 7, pictures: [picture] }] };

describe.each(SERVER_PROVIDER_NAMES)('%s', (provider) => {
  it('sends a picture before the text of its message', async () => {
    server.script(faults.answer('fine'));
    const { caller, options } = await setUp();
    await caller.call(workersAt(server.url).find((one) => one.provider === provider)!, shown, options);
    const { body } = server.requests.at(-1)!;
    const url = `data:image/png;base64,${TWO_COLOURS}`;
    const content = {
      'openai': [{ type: 'input_image', image_url: url, detail: 'auto' }, { type: 'input_text', text: 'What is wrong here?' }],
      'openai-compatible': [{ type: 'image_url', image_url: { url } }, { type: 'text', text: 'What is wrong here?' }],
      'anthropic': [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: TWO_COLOURS } },
        { type: 'text', text: 'What is', cache_control: { type: 'ephemeral' } }, { type: 'text', text: ' wrong here?' },
      ],
    }[provider];
    expect(body[provider === 'openai' ? 'input' : 'messages']).toEqual([{ role: 'user', content }]);
  });

  it('sends a picture that a tool returned, with its result or after all results', async () => {
    server.script(faults.answer('fine'));
    const { caller, options } = await setUp();
    const calls = ['a', 'b'].map((id) => ({ id, name: 'look', arguments: '{}' }));
    const results = [{ role: 'tool' as const, callId: 'a', content: 'A door', pictures: [picture] }, { role: 'tool' as const, callId: 'b', content: 'Nothing' }];
    await caller.call(workersAt(server.url).find((one) => one.provider === provider)!, { messages: [{ role: 'user', content: 'Look' }, { role: 'assistant', content: '', toolCalls: calls }, ...results] }, options);
    const { body } = server.requests.at(-1)!;
    const url = `data:image/png;base64,${TWO_COLOURS}`;
    const sent = {
      'openai': [
        { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_image', image_url: url, detail: 'auto' }, { type: 'input_text', text: 'A door' }] },
        { type: 'function_call_output', call_id: 'b', output: 'Nothing' },
      ],
      'openai-compatible': [
        { role: 'tool', tool_call_id: 'a', content: 'A door' }, { role: 'tool', tool_call_id: 'b', content: 'Nothing' },
        { role: 'user', content: [{ type: 'text', text: 'What the call a returned as a picture:' }, { type: 'image_url', image_url: { url } }] },
      ],
      'anthropic': [{ role: 'user', content: [
        { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: TWO_COLOURS } }, { type: 'text', text: 'A door' }] },
        { type: 'tool_result', tool_use_id: 'b', content: 'Nothing' },
      ] }],
    }[provider];
    expect((body[provider === 'openai' ? 'input' : 'messages'] as unknown[]).slice(-sent.length)).toEqual(sent);
  });
});

describe('a simulated server', () => {
  const at = (name: string) => workerConfigSchema.parse(simulator.workers().find(({ id }) => id === name));

  it.each(['sim-atlas', 'sim-birch'])('takes pictures for %s, and counts them', async (name) => {
    const { caller, options } = await setUp();
    const { reply } = await caller.call(at(name), shown, options);
    expect(reply.usage.uncachedInput).toBeGreaterThan(Math.ceil(256 * 256 / 750));
  });

  it('refuses them for a model without sight, and what is no picture for all', async () => {
    const { caller, options } = await setUp();
    expect(await rejection(caller.call(at('sim-cedar'), shown, options))).toMatchObject({ kind: 'invalid-request' });
    const broken = { messages: [{ role: 'user' as const, content: 'What?', pictures: [{ ...picture, data: btoa('no picture') }] }] };
    expect(await rejection(caller.call(at('sim-birch'), broken, options))).toMatchObject({ kind: 'invalid-request' });
  });

  it.each([['sim-atlas', true], ['sim-birch', true], ['sim-cedar', false]])('shows a try whether %s sees: %s', async (name, pictures) => {
    const { caller, keys, controller } = await setUp();
    const result = await tryWorker(at(name), { caller, keys, signal: controller.signal });
    expect(result).toMatchObject({ ok: true, pictures });
    expect(result.message.includes('It sees pictures.')).toBe(pictures);
  });
});

test('a model that answers and does not see is known by its answer; a call that fails for another reason tells nothing', async () => {
  const worker = workersAt(server.url)[1]!;
  const ask = async (...script: Parameters<typeof server.script>) => {
    server.script(...script);
    const { caller, keys, controller } = await setUp();
    return tryWorker(worker, { caller, keys, signal: controller.signal });
  };
  expect(await ask(faults.answer('ready'), faults.answer('ready'), faults.answer('Yellow, and blue.'))).toMatchObject({ ok: true, pictures: true });
  expect(await ask(faults.answer('ready'), faults.answer('ready'), faults.answer('blue yellow'))).toMatchObject({ ok: true, pictures: false });
  expect(await ask(faults.answer('ready'), faults.answer('ready'), faults.answer('none'))).toMatchObject({ ok: true, pictures: false });
  expect(await ask(faults.answer('ready'), faults.answer('ready'), faults.refuse(429, { error: { message: 'Slow down.' } }))).not.toHaveProperty('pictures');
});

describe('the tokens of a picture', () => {
  const size = { width: 1_092, height: 1_092 };

  it('follow the rules of its provider', () => {
    expect(pictureTokens(workerOf({ provider: 'anthropic' }), size)).toBe(1_590);
    expect(pictureTokens(workerOf({ provider: 'anthropic' }), { width: 8_000, height: 8_000 })).toBe(4_784);
    // 4 tiles after scaling to 768 x 768, or 1,225 patches at 2.46.
    expect(pictureTokens(workerOf({ provider: 'openai', model: 'gpt-4o' }), size)).toBe(3_014);
    expect(pictureTokens(workerOf({ provider: 'openai', model: 'gpt-4o-mini' }), size)).toBe(2_833 + 4 * 5_667);
    const gemini = workerOf({ provider: 'openai-compatible', baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai' });
    expect(pictureTokens(gemini, { width: 960, height: 540 })).toBe(258 * 6);
    expect(pictureTokens(gemini, { width: 100, height: 100 })).toBe(1_120);
    expect(pictureTokens(workersAt(server.url)[1]!, { width: 8_000, height: 8_000 })).toBe(16_384);
  });

  it('count in the reservation of a call', async () => {
    const { prices } = await setUp();
    const worker = workerOf({ provider: 'openai', price: { inputPerMillion: 1, outputPerMillion: 1 } });
    const [bare, seen] = [{ messages: [{ role: 'user' as const, content: 'What?' }] }, { messages: [{ role: 'user' as const, content: 'What?', pictures: [picture] }] }]
      .map((request) => upperBound(worker, { ...request, maxOutputTokens: 100 }, prices));
    expect(seen!.tokens - bare!.tokens).toBe(400);
    expect(seen!.usd! - bare!.usd!).toBeCloseTo(400 / 1e6, 12);
  });
});
