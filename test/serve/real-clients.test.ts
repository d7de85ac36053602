import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { served } from './served.ts';

/*
 * What real agents sent to the endpoint while they changed a file (test/real/agents/serve.ts --record), sent again in their order. Long texts are
 * shortened.
 */

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body?: { readonly model: string; readonly stream?: boolean };
}

const place = served();
const folder = new URL('transcripts/', import.meta.url);
/** Ids of the simulated models, in the transcripts, and of the scripted ones here. */
const RECORDED = /call_[0-9a-f]{32}/g;
const SCRIPTED = /"(?:call_id|id)":"(call_\d+)"/g;

const PLAN = 'model_id = [0, 1]\nsubtasks = ["Say how to go about it.", "Change the file."]\naccess_list = [[], [0]]';
const unique = (ids: readonly string[]): string[] => [...new Set(ids)];

describe.each(readdirSync(folder))('%s', (name) => {
  it('is answered in all that it sends, by one plan for the person\'s message', async () => {
    const transcript = JSON.parse(readFileSync(new URL(name, folder), 'utf8').replaceAll('sim-birch', 'first').replaceAll('KEY', place.key)) as Sent[];
    const turns = transcript.filter(({ body }) => body?.model.endsWith('conductor'));
    const idsIn = (sent: Sent | undefined): string[] => unique(JSON.stringify(sent?.body ?? {}).match(RECORDED) ?? []);
    const given: string[] = [];
    let next = 0;
    place.script = ({ model }) => {
      if (model === 'planner') return PLAN;
      const wanted = idsIn(turns[next]).length - given.length;
      return model === 'second' && wanted > 0 ? { text: 'I look.', calls: Array.from({ length: wanted }, () => ({ name: 'read', arguments: {} })) } : 'Done.';
    };
    const planned = place.workers.of('planner').length;
    for (const sent of transcript.filter(({ method }) => method === 'POST')) {
      if (turns.includes(sent)) next = turns.indexOf(sent) + 1;
      const body = idsIn(sent).reduce((text, id, index) => text.replaceAll(id, given[index] ?? id), JSON.stringify(sent.body));
      const answer = await fetch(`${place.url}${sent.url}`, { method: 'POST', headers: { ...sent.headers, 'content-type': 'application/json' }, body });
      const text = await answer.text();
      expect([answer.status, text.slice(0, 500)]).toEqual([200, expect.any(String)]);
      given.push(...unique([...text.matchAll(SCRIPTED)].flatMap(([, id]) => id ?? [])));
      if (sent === turns.at(-1)) expect(text).toContain('Done.');
    }
    expect(turns.length).toBeGreaterThan(2);
    expect(given.length).toBeGreaterThan(1);
    expect(place.workers.of('planner').length - planned).toBe(1);
  });
});

describe.each(['cline.json', 'qwen.json'])('%s', (name) => {
  it('is asked again in one run where the answer is empty, and gets that of another worker', async () => {
    const [sent] = (JSON.parse(readFileSync(new URL(name, folder), 'utf8').replaceAll('KEY', place.key)) as Sent[]).filter(({ method }) => method === 'POST');
    place.script = ({ model, tools }) => (model === 'planner' ? PLAN : model === 'second' ? '' : tools.length > 0 ? 'Done by another.' : 'I advise.');
    const before = place.workers.requests.length;
    const texts: string[] = [];
    for (let times = 0; times < 3; times += 1) {
      const answer = await fetch(`${place.url}${sent?.url}`, { method: 'POST', headers: { ...sent?.headers, 'content-type': 'application/json' }, body: JSON.stringify(sent?.body) });
      texts.push(await answer.text());
    }
    expect(texts.map((text) => text.includes('Done by another.'))).toEqual([false, false, true]);
    expect(place.workers.requests.slice(before).map(({ model }) => model)).toEqual(['planner', 'first', 'second', 'second', 'first']);
  });
});
