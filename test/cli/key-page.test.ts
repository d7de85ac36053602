import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeyPage } from '../../backend/cli/mcp/key-page.ts';

let page: KeyPage;
beforeEach(() => {
  page = new KeyPage();
});
afterEach(() => page.close());

const signal = new AbortController().signal;

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** A request with headers that a browser would set, and that `fetch` does not let us choose. */
function send(url: string, { method = 'GET', headers = {}, body }: { method?: string; headers?: Readonly<Record<string, string>>; body?: string } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk)).on('end', () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const post = (url: string, body: string, headers = {}): Promise<Answer> => send(url, { method: 'POST', body, headers: { Origin: new URL(url).origin, ...headers } });

describe('the page on which a person enters keys', () => {
  it('asks for each key, keeps what is entered, and is open once', async () => {
    const url = await page.ask(['FIRST_KEY', 'SECOND_KEY']);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/keys\/[\w-]{43}$/);
    expect(await page.ask(['FIRST_KEY', 'SECOND_KEY'])).toBe(url);
    const shown = await send(url);
    expect(shown.body.match(/<input type="password" name="\w+"/g)).toEqual(['<input type="password" name="FIRST_KEY"', '<input type="password" name="SECOND_KEY"']);
    expect(shown.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'content-security-policy': expect.stringContaining("default-src 'none'") });
    const entered = page.entered(signal);
    expect((await post(url, 'FIRST_KEY=sk-one&SECOND_KEY=')).status).toBe(400);
    expect((await post(url, 'FIRST_KEY=sk-one&SECOND_KEY=two+words')).status).toBe(400);
    expect(page.get('FIRST_KEY')).toBeUndefined();
    const done = await post(url, 'FIRST_KEY=sk-one&SECOND_KEY=%20sk-two%20&OTHER=x');
    expect([done.status, done.body.includes('sk-')]).toEqual([200, false]);
    await entered;
    expect(['FIRST_KEY', 'SECOND_KEY', 'OTHER'].map(page.get)).toEqual(['sk-one', 'sk-two', undefined]);
    expect((await send(url)).status).toBe(404);
    expect((await post(url, 'FIRST_KEY=other&SECOND_KEY=other')).status).toBe(404);
    await page.entered(signal);
  });

  it('answers no other page, no other name of this machine, and no guess', async () => {
    const url = await page.ask(['A_KEY']);
    const { origin, port } = new URL(url);
    expect((await post(url, 'A_KEY=evil', { Origin: 'https://example.org' })).status).toBe(403);
    expect((await send(url, { method: 'POST', body: 'A_KEY=evil' })).status).toBe(403);
    expect((await post(url, 'A_KEY=evil', { Origin: 'null' })).status).toBe(403);
    for (const host of ['example.org', `localhost:${port}`, `example.org:${port}`]) expect((await post(url, 'A_KEY=evil', { Host: host })).status).toBe(421);
    expect((await post(`${origin}/keys/${'A'.repeat(43)}`, 'A_KEY=evil')).status).toBe(404);
    expect((await send(origin)).status).toBe(404);
    expect((await send(url, { method: 'DELETE', headers: { Origin: origin } })).status).toBe(405);
    await expect(post(url, `A_KEY=${'x'.repeat(100_000)}`)).rejects.toThrow();
    expect(page.get('A_KEY')).toBeUndefined();
  });

  it('is waited for until it is closed, other keys are asked for, or the call ends', async () => {
    const url = await page.ask(['A_KEY']);
    const [first, second] = [page.entered(signal), new AbortController()];
    const ended = page.entered(second.signal);
    second.abort(new Error('The call ended.'));
    await expect(ended).rejects.toThrow('The call ended.');
    const other = await page.ask(['B_KEY']);
    await expect(first).rejects.toThrow('other keys are asked for');
    expect([(await send(url)).status, (await send(other)).status]).toEqual([404, 200]);
    const third = page.entered(signal);
    await page.close();
    await expect(third).rejects.toThrow('was closed');
  });
});
