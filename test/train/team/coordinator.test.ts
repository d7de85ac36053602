import { request } from 'node:http';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Listening } from '../../../backend/common/local-http.ts';
import { teamKeys } from '../../../backend/protocol/client/team-keys.ts';
import { trainingConfigSchema } from '../../../backend/protocol/training.ts';
import { Coordinator } from '../../../backend/train/team/coordinator.ts';
import { openCoordinatorServer } from '../../../backend/train/team/coordinator-server.ts';
import { MAX_MESSAGE_BYTES, teamStateSchema } from '../../../backend/train/team/team-messages.ts';
import { sharedOf } from '../../../backend/train/trainings/joined-team.ts';
import { delay } from '../../../backend/workers/limits/delay.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/* What reaches a coordinator over the network, by hand. */

const CONFIG = trainingConfigSchema.parse({ groupSize: 2, maxTokens: 4 });
const signal = new AbortController().signal;

let folder: string;
let server: Listening;
let coordinator: Coordinator;
let key: string;

const open = (more: { readonly oldest?: number; readonly counted?: readonly string[]; readonly presenceMs?: number; readonly wait?: number; readonly mostNumbers?: number } = {}): Coordinator => new Coordinator({
  terms: { protocol: 2, trainingId: 'training', model: 'small', oldest: more.oldest ?? 0, settings: sharedOf(CONFIG) },
  limits: { groupSize: 2, maxTokens: 4, vocabulary: 100, contextLength: 10 },
  members: 0, wait: more.wait ?? 0.01, counted: more.counted ?? [], given: [], isResumed: false, latest: () => undefined, saved: () => undefined, renew: async () => {},
  onChange: () => {}, onWaiting: () => {}, delay, now: Date.now, mostNumbers: more.mostNumbers, holdMs: 50, presenceMs: more.presenceMs ?? 60_000,
});

beforeEach(async () => {
  folder = await temporaryFolder();
  const keys = teamKeys(folder);
  key = await keys.add('ann', {});
  coordinator = open();
  await coordinator.begin(3, signal);
  server = await openCoordinatorServer({
    keys, port: 0, log: () => {},
    coordinator: { get terms() { return coordinator.terms; }, state: (...asked) => coordinator.state(...asked), take: (...given) => coordinator.take(...given), leave: (...left) => coordinator.leave(...left) },
  });
});
afterEach(() => server.close());

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Without what `fetch` adds or forbids. */
async function send({ method = 'POST', path: at = '/team/v1/groups', headers = {}, body }: Sent): Promise<{ readonly status: number; readonly body: unknown }> {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  return await new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: server.port, method, path: at, headers: { authorization: `Bearer ${key}`, ...headers } }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(parts).toString()) as unknown }));
    });
    sent.on('error', reject);
    sent.end(text);
  });
}

const plan = (more: object = {}) => ({ prompt: 0, tokens: [5, 6], logprobs: [-1, -2], finishReason: 'stop', outcome: { kind: 'judged', verified: true, score: 1, costUsd: 0.1 }, ...more });
const group = (more: { readonly step?: number; readonly [field: string]: unknown } = {}, completion: object = {}) => ({ instance: 'one', step: 3, version: more.step ?? 3, place: 0, of: 1, seconds: 2, prompts: [[1, 2, 3]], completions: [plan(completion), plan({ outcome: { kind: 'unparseable' } })], ...more });

describe('a coordinator', () => {
  it('takes a group of a member, once, and gives it to the training', async () => {
    for (let time = 0; time < 2; time += 1) expect(await send({ body: group() })).toEqual({ status: 200, body: { taken: 'held' } });
    const groups = await coordinator.groups(3, signal);
    expect(groups).toEqual([[
      { completion: { promptTokens: [1, 2, 3], tokens: [5, 6], logprobs: [-1, -2], text: '', finishReason: 'stop' }, outcome: { kind: 'judged', verified: true, score: 1, costUsd: 0.1 } },
      expect.objectContaining({ outcome: { kind: 'unparseable' } }),
    ]]);
    expect(coordinator.members).toEqual([{ name: 'ann', isHere: true, groups: 1, plans: 2, costUsd: 0.1 }]);
    expect(await send({ body: group() })).toEqual({ status: 200, body: { taken: 'late' } });
    await coordinator.begin(4, signal);
    expect(await send({ body: group() })).toEqual({ status: 200, body: { taken: 'late' } });
    expect(await coordinator.groups(4, signal)).toEqual([]);
  });

  it('holds so much of a member and no more, until a step has taken it', async () => {
    // A prompt of three tokens, and two plans of two with their log-probabilities.
    coordinator = open({ mostNumbers: 2 * 11 });
    await coordinator.begin(3, signal);
    const two = [group({ of: 3 }), group({ of: 3, place: 1 })];
    for (const body of two) expect(await send({ body })).toEqual({ status: 200, body: { taken: 'held' } });
    expect(await send({ body: group({ of: 3, place: 2 }) })).toEqual({ status: 400, body: { error: expect.stringContaining('so much of this member waits for the next step already') as string } });
    expect(await coordinator.groups(3, signal)).toHaveLength(2);
    await coordinator.begin(4, signal);
    expect(await send({ body: group({ step: 4 }) })).toEqual({ status: 200, body: { taken: 'held' } });
  });

  it.each([
    ['no JSON', '{'],
    ['an unknown field', group({ text: 'the plan' })],
    ['a version that is not there', group({ step: 4 })],
    ['plans that would be older than they may be', group({ step: 4, version: 3 })],
    ['a version after its step', group({ step: 2, version: 3 })],
    ['a place beyond its number', group({ place: 1 })],
    ['no plan', group({ completions: [] })],
    ['too many plans', group({ completions: [plan(), plan(), plan()] })],
    ['a prompt that is not there', group({}, { prompt: 1 })],
    ['an empty prompt', group({ prompts: [[]] })],
    ['a token of another model', group({}, { tokens: [5, 100] })],
    ['a token that is no whole number', group({}, { tokens: [5, 0.5] })],
    ['a negative token', group({}, { tokens: [5, -1] })],
    ['a prompt of another model', group({ prompts: [[1, 200]] })],
    ['too long a plan', group({}, { tokens: [1, 2, 3, 4, 5], logprobs: [-1, -1, -1, -1, -1] })],
    ['more than the model reads', group({ prompts: [[1, 2, 3, 4, 5, 6, 7, 8, 9]] })],
    ['too few log-probabilities', group({}, { logprobs: [-1] })],
    ['a log-probability above 0', group({}, { logprobs: [-1, 0.5] })],
    ['an infinite log-probability', JSON.stringify(group({}, { logprobs: [-1, -7] })).replace('-7', '-1e999')],
    ['a log-probability that is none', group({}, { logprobs: [-1, null] })],
    ['a score above 1', group({}, { outcome: { kind: 'judged', verified: true, score: 2, costUsd: 0 } })],
    ['a negative cost', group({}, { outcome: { kind: 'judged', verified: true, score: 1, costUsd: -5 } })],
    ['an outcome of another kind', group({}, { outcome: { kind: 'best' } })],
    ['neither an outcome nor an expectation', group({}, { outcome: undefined })],
    ['odds of 0', group({}, { expected: { chance: 1, odds: 0 } })],
    ['a name that is a path', group({ instance: '../one' })],
  ])('refuses %s with a sentence', async (_name, body) => {
    const { status, body: said } = await send({ body });
    expect({ status, said }).toEqual({ status: 400, said: { error: expect.stringMatching(/^(The group was not taken|The message is).+\.$/) } });
    expect(await coordinator.groups(3, signal)).toEqual([]);
  });

  it('says nothing to who has no key, is a web page, or calls it by another name', async () => {
    const sent = { method: 'GET', path: '/team/v1/terms' };
    expect((await send(sent)).status).toBe(200);
    for (const authorization of ['', 'Bearer', 'Bearer cond-guessed', key, `Basic ${key}`]) {
      expect(await send({ ...sent, headers: { authorization } })).toEqual({ status: 401, body: { error: 'The key is not known.' } });
      expect((await send({ body: group(), headers: { authorization } })).status).toBe(401);
    }
    for (const headers of [{ origin: 'http://127.0.0.1' }, { 'sec-fetch-site': 'cross-site' }, { host: 'evil.example' }, { host: `127.0.0.1.evil.example:${server.port}` }] as Record<string, string>[]) {
      expect((await send({ ...sent, headers })).status).toBe(403);
    }
    // The other end of a tunnel has another port.
    expect((await send({ ...sent, headers: { host: 'localhost:9999' } })).status).toBe(200);
    await teamKeys(folder).remove('ann');
    expect((await send(sent)).status).toBe(401);
    expect(await coordinator.groups(3, signal)).toEqual([]);
  });

  it('does not read more than a message may have, and has nothing elsewhere', async () => {
    const body = JSON.stringify({ instance: 'one', revision: 'x'.repeat(MAX_MESSAGE_BYTES) });
    const { status } = await send({ path: '/team/v1/state', body }).catch(() => ({ status: 413 }));
    expect(status).toBe(413);
    for (const at of ['/', '/team/v1/other', '/team/v1', '/team/v2/terms', '/__proto__']) expect((await send({ method: 'GET', path: at })).status).toBe(404);
  });

  it('tells members what it holds of them, and at once when something is new', async () => {
    await send({ body: group() });
    const ask = (more: object = {}) => send({ path: '/team/v1/state', body: { instance: 'one', ...more } });
    const first = teamStateSchema.parse((await ask()).body);
    expect(first).toMatchObject({ step: 3, isOpen: true, held: [{ step: 3, place: 0 }] });
    expect((await ask({ revision: first.revision })).body).toEqual(first);
    const later = ask({ revision: first.revision });
    await coordinator.groups(3, signal);
    expect(teamStateSchema.parse((await later).body)).toMatchObject({ step: 3, isOpen: false, held: [] });
    coordinator.end(4, { hasLearned: true });
    expect(teamStateSchema.parse((await ask()).body)).toMatchObject({ step: 4, over: { hasLearned: true } });
  });

  it('lets one training use a key at a time', async () => {
    expect((await send({ body: group() })).status).toBe(200);
    expect(await send({ body: group({ instance: 'two' }) })).toEqual({ status: 409, body: { error: expect.stringMatching(/^Another training uses the key of "ann"/) } });
    await send({ path: '/team/v1/leave', body: { instance: 'one' } });
    expect((await send({ body: group({ instance: 'two' }) })).status).toBe(200);
  });

  it('counts a group of an older version once, also after another process counted it', async () => {
    coordinator = open({ oldest: 1 });
    await coordinator.begin(4, signal);
    expect((await send({ body: group() })).body).toEqual({ taken: 'held' });
    expect(await coordinator.groups(4, signal)).toHaveLength(1);
    const { counted } = coordinator;
    expect(counted).toEqual([]);
    await send({ body: group({ step: 4 }) });
    await coordinator.begin(5, signal);
    expect(await coordinator.groups(5, signal)).toHaveLength(1);
    await coordinator.begin(6, signal);
    await send({ body: group({ step: 6 }) });
    expect(await coordinator.groups(6, signal)).toHaveLength(1);
    // What could be handed in again is kept in the checkpoint.
    const next = open({ oldest: 1, counted: coordinator.counted });
    coordinator = next;
    await next.begin(7, signal);
    expect((await send({ body: group({ step: 6 }) })).body).toEqual({ taken: 'held' });
    expect(await next.groups(7, signal)).toEqual([]);
  });

  it('holds what is for a later step until that one, whatever process it is', async () => {
    coordinator = open({ oldest: 2 });
    await coordinator.begin(4, signal);
    for (const step of [4, 5, 6]) expect((await send({ body: group({ step, version: 4 }) })).body).toEqual({ taken: 'held' });
    expect(await send({ body: group({ step: 7, version: 4 }) })).toEqual({ status: 400, body: { error: 'The group was not taken: it is of version 4, and step 8 takes versions from 5 to 7.' } });
    expect(await coordinator.groups(4, signal)).toHaveLength(1);
    const next = open({ oldest: 2, counted: coordinator.counted });
    coordinator = next;
    await next.begin(5, signal);
    // Handed in again by a member that does not know what counted.
    for (const step of [4, 5, 6]) await send({ body: group({ step, version: 4 }) });
    expect(await next.groups(5, signal)).toHaveLength(1);
    await next.begin(6, signal);
    expect(await next.groups(6, signal)).toHaveLength(1);
    expect(next.metrics()).toMatchObject({ 'team/versions_old': 2 });
    await next.begin(7, signal);
    expect(await next.groups(7, signal)).toEqual([]);
  });

  it('waits for a member only while it is there', async () => {
    coordinator = open({ presenceMs: 20, wait: 3_600 });
    await coordinator.begin(3, signal);
    await send({ path: '/team/v1/state', body: { instance: 'one' } });
    expect(await coordinator.groups(3, signal)).toEqual([]);
  });
});

it('says which port is taken', async () => {
  await expect(openCoordinatorServer({ coordinator, keys: teamKeys(path.join(folder, 'other')), port: server.port, log: () => {} })).rejects.toThrow(/^Port \d+ of this machine is taken, .*"team\.port"/);
});
