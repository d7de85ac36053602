import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { beforeEach, describe, expect, it } from 'vitest';
import { png } from '../support/picture-bytes.ts';
import { served } from './served.ts';

/* Pictures in requests of OpenAI's and Anthropic's own clients. Of the workers, only the second one takes any. */

const place = served();
const openAi = (): OpenAI => new OpenAI({ baseURL: `${place.url}/v1`, apiKey: place.key, maxRetries: 0 });
const anthropic = (): Anthropic => new Anthropic({ baseURL: place.url, apiKey: place.key, maxRetries: 0 });
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const SKETCH = base64(png(30, 20));
const urlOf = (data: string): string => `data:image/png;base64,${data}`;
const sizes = (...widths: number[]): string[] => widths.map((width) => base64(png(width, 10)));

/** What a person says, with pictures before it, and what is said then in turns. */
interface Turns {
  readonly model?: string;
  readonly turns: readonly { readonly text: string; readonly pictures: readonly string[] }[];
}

/** Asks, and gives the answer's text. @param pictures base64, or an address as it is */
type Ask = (asked: Turns) => Promise<string>;

const isAddress = (picture: string): boolean => /^(https?|data):/.test(picture);
const CLIENTS: Readonly<Record<string, Ask>> = {
  'Chat Completions': async ({ model = 'conductor', turns }) => {
    const messages = turns.map(({ text, pictures }, index): OpenAI.ChatCompletionMessageParam => (index % 2 === 1 ? { role: 'assistant', content: text } : {
      role: 'user', content: [...pictures.map((picture) => ({ type: 'image_url' as const, image_url: { url: isAddress(picture) ? picture : urlOf(picture) } })), { type: 'text', text }],
    }));
    return (await openAi().chat.completions.create({ model, messages })).choices[0]?.message.content ?? '';
  },
  'Responses': async ({ model = 'conductor', turns }) => {
    const input = turns.map(({ text, pictures }, index): OpenAI.Responses.EasyInputMessage => (index % 2 === 1 ? { role: 'assistant', content: text } : {
      role: 'user', content: [...pictures.map((picture) => ({ type: 'input_image' as const, detail: 'auto' as const, image_url: isAddress(picture) ? picture : urlOf(picture) })), { type: 'input_text', text }],
    }));
    return (await openAi().responses.create({ model, input })).output_text;
  },
  'Messages': async ({ model = 'conductor', turns }) => {
    const messages = turns.map(({ text, pictures }, index): Anthropic.MessageParam => (index % 2 === 1 ? { role: 'assistant', content: text } : {
      role: 'user', content: [...pictures.map((picture): Anthropic.ImageBlockParam => ({
        type: 'image', source: isAddress(picture) ? { type: 'url', url: picture } : { type: 'base64', media_type: 'image/png', data: picture },
      })), { type: 'text', text }],
    }));
    const { content } = await anthropic().messages.create({ model, max_tokens: 200, messages });
    return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  },
};

const refusal = async (call: Promise<unknown>): Promise<{ status: number; message: string }> =>
  await call.then(() => Promise.reject(new Error('It was answered.')), (error: unknown) => error as { status: number; message: string });
const newestOf = (model: string): string[] => place.workers.of(model).at(-1)?.messages.findLast(({ role }) => role === 'user')?.pictures?.map(({ data }) => data) ?? [];

beforeEach(() => {
  place.file = { ...place.file, workers: place.file.workers.map((worker) => ({ ...worker, pictures: worker.id === 'second' })) };
});

describe.each(Object.entries(CLIENTS))('in %s', (format, ask) => {
  const asked = (text: string, ...pictures: string[]): Turns => ({ turns: [{ text: `${text} (${format})`, pictures }] });

  it('a picture goes to the worker that sees it; the others are told of it; the panel shows it', async () => {
    expect(await ask(asked('Mend the button in the form', SKETCH))).toBe('Mended.');
    expect(newestOf('second')).toEqual([SKETCH]);
    for (const model of ['planner', 'first']) {
      expect(newestOf(model)).toEqual([]);
      expect(place.workers.of(model).at(-1)?.text).toContain('one picture (PNG, 30 x 20), which you cannot see.');
    }
    expect(place.workers.of('planner').at(-1)?.text).toContain('[sees pictures]');
    const { runs } = place.conversations;
    const { request, conversation } = runs.snapshot(runs.list({ limit: 1 })[0]!.runId);
    expect([request.question, request.pictures]).toEqual([`Mend the button in the form (${format})`, [{ type: 'image/png', width: 30, height: 20, data: SKETCH }]]);
    // The journal has it once.
    expect(conversation?.messages).toMatchObject([{ role: 'user', pictures: [{ data: '' }] }]);
  });

  it('an address is refused, since nothing is loaded from anywhere', async () => {
    expect(await refusal(ask(asked('What is this?', 'https://example.org/a.png')))).toMatchObject({ status: 400, message: expect.stringMatching(/data alone, in base64.*nothing is loaded from an address/) });
  });

  it('the limits are those of every question', async () => {
    expect(await refusal(ask(asked('Five', ...sizes(1, 2, 3, 4, 5))))).toMatchObject({ status: 400, message: expect.stringContaining('A question takes at most 4 pictures.') });
    expect(await refusal(ask(asked('Wide', base64(png(8_001, 1)))))).toMatchObject({ status: 400, message: expect.stringContaining('8001 × 1 pixels') });
    expect(await refusal(ask(asked('Heavy', base64(png(9, 9, 4_000_000)))))).toMatchObject({ status: 400, message: expect.stringContaining('3.82 MB') });
    const large = base64(png(9, 9, 3_900_000));
    expect(await refusal(ask(asked('Both', large, large)))).toMatchObject({ status: 400, message: expect.stringContaining('together') });
    expect(await ask({ ...asked('One of them', large), model: 'second' })).toBe('Mended.');
    expect(newestOf('second')).toEqual([large]);
  });

  it('a question is refused where nobody sees its picture', async () => {
    expect(await refusal(ask({ ...asked('Look', SKETCH), model: 'first' }))).toMatchObject({ status: 400, message: expect.stringMatching(/first\\?" takes no pictures.*conductor worker try/) });
    place.file = { ...place.file, workers: place.file.workers.map((worker) => ({ ...worker, pictures: false })) };
    expect(await refusal(ask(asked('Look', SKETCH)))).toMatchObject({ status: 400, message: expect.stringContaining('No worker takes pictures') });
  });

  it('of a long conversation the newest ones are shown, and the worker is told of the others', async () => {
    const [a, b, c, d, e] = sizes(1, 2, 3, 4, 5) as [string, string, string, string, string];
    await ask({ model: 'second', turns: [
      { text: `First (${format})`, pictures: [a, b] }, { text: 'I see.', pictures: [] }, { text: 'Second', pictures: [c, d] }, { text: 'Yes.', pictures: [] }, { text: 'Third', pictures: [e] },
    ] });
    const sent = place.workers.of('second').at(-1)?.messages.filter(({ role }) => role === 'user');
    expect(sent?.map(({ pictures = [] }) => pictures.map(({ data }) => data))).toEqual([[], [c, d], [e]]);
    expect(sent?.[0]?.content).toContain('[A picture (PNG, 1 x 10), which you are not shown any more.]');
    // An address in an older message is another model's matter.
    await ask({ model: 'first', turns: [{ text: 'Look', pictures: ['https://example.org/a.png', a] }, { text: 'A fox.', pictures: [] }, { text: `Is it red? (${format})`, pictures: [] }] });
    expect(place.workers.of('first').at(-1)?.messages[0]?.content).toMatch(/not shown, since workers are sent text and pictures alone\]\nLook\n\n\[A picture \(PNG, 1 x 10\), which you cannot see\.\]/);
  });

  it('steps that advise are told of earlier pictures as of those of every earlier question', async () => {
    await ask({ turns: [{ text: `Look at this (${format})`, pictures: [SKETCH] }, { text: 'A plan of a house.', pictures: [] }, { text: 'Mend the door of the form', pictures: [] }] });
    expect(place.workers.of('first').at(-1)?.text).toContain('The question came with one picture (PNG, 30 x 20), which you cannot see.');
    expect(place.workers.of('second').at(-1)?.messages[0]?.pictures).toEqual([{ data: SKETCH }]);
  });
});

describe('what a tool shows', () => {
  const looks = ({ messages }: { messages: readonly { role: string }[] }): string | { calls: { name: string; arguments: object }[] } =>
    (messages.some(({ role }) => role === 'tool') ? 'The door is red.' : { calls: [{ name: 'look', arguments: {} }, { name: 'look', arguments: {} }] });
  /** What the worker is sent after its calls: results take text alone in its format. */
  const afterCalls = (): unknown[] => (place.workers.of('second').at(-1)?.body['messages'] as object[]).slice(2);
  const shownTo = (id: string, data: string): object[] => [{ type: 'text', text: `What the call ${id} returned as a picture:` }, { type: 'image_url', image_url: { url: urlOf(data) } }];

  it('reaches the worker from Anthropic\'s client', async () => {
    place.script = looks;
    const tools = [{ name: 'look', input_schema: { type: 'object' as const } }];
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Look at both doors' }];
    const first = await anthropic().messages.create({ model: 'second', max_tokens: 200, messages, tools });
    const [a, b] = first.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])) as [string, string];
    const image = { type: 'image' as const, source: { type: 'base64' as const, media_type: 'image/png' as const, data: SKETCH } };
    messages.push({ role: 'assistant', content: first.content }, { role: 'user', content: [{ type: 'tool_result', tool_use_id: a, content: 'Nothing' }, { type: 'tool_result', tool_use_id: b, content: [image] }] });
    expect(await anthropic().messages.create({ model: 'second', max_tokens: 200, messages, tools })).toMatchObject({ content: [{ text: 'The door is red.' }] });
    expect(afterCalls()).toEqual([{ role: 'tool', tool_call_id: a, content: 'Nothing' }, { role: 'tool', tool_call_id: b, content: '' }, { role: 'user', content: shownTo(b, SKETCH) }]);
  });

  it('reaches the worker from OpenAI\'s client', async () => {
    place.script = looks;
    const tools = [{ type: 'function' as const, name: 'look', parameters: { type: 'object' }, strict: false }];
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Look at two more doors' }];
    const first = await openAi().responses.create({ model: 'second', input, tools });
    const [a, b] = first.output.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : [])) as [string, string];
    input.push(
      ...first.output as OpenAI.Responses.ResponseInputItem[], { type: 'function_call_output', call_id: a, output: [{ type: 'input_image', image_url: urlOf(SKETCH) }, { type: 'input_text', text: 'Red' }] },
      { type: 'function_call_output', call_id: b, output: 'Nothing' },
    );
    expect((await openAi().responses.create({ model: 'second', input, tools })).output_text).toBe('The door is red.');
    expect(afterCalls()).toEqual([{ role: 'tool', tool_call_id: a, content: 'Red' }, { role: 'tool', tool_call_id: b, content: 'Nothing' }, { role: 'user', content: shownTo(a, SKETCH) }]);
  });
});

it('is counted among the tokens of a prompt', async () => {
  const count = async (data: string): Promise<number> => (await anthropic().messages.countTokens({
    model: 'conductor', messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }, { type: 'text', text: 'What?' }] }],
  })).input_tokens;
  expect(await count(base64(png(1_500, 1_000)))).toBeGreaterThan(await count(base64(png(15, 10))) + 1_000);
});
