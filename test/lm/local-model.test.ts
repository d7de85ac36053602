import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planGrammar } from '../../backend/conductor/plan-grammar.ts';
import { compilePattern } from '../../backend/lm/automaton/compile-pattern.ts';
import { accepts } from '../../backend/lm/automaton/byte-automaton.ts';
import { choice, literal, oneOf, repeat, sequence } from '../../backend/lm/automaton/pattern.ts';
import { AdapterError } from '../../backend/lm/adapter/errors.ts';
import { NotANumberError } from '../../backend/lm/decoder/not-a-number-error.ts';
import { ModelRequestError } from '../../backend/lm/decoder/request-error.ts';
import type { TextRequest } from '../../backend/lm/language-model.ts';
import { LocalModel } from '../../backend/lm/local-model.ts';
import type { LoadOptions } from '../../backend/lm/load-model.ts';
import { openTokenizer } from '../../backend/lm/tokenizer/tokenizer.ts';
import { TokenizerMissingError } from '../../backend/lm/tokenizer/errors.ts';
import { adapterFolder, type GoldenModel, modelFolder, readFigures } from '../golden/golden.ts';

const QUESTION: Pick<TextRequest, 'messages' | 'maxTokens' | 'temperature' | 'samples' | 'seeds'> = {
  messages: [{ role: 'user', content: 'Which is the longest river?' }],
  maxTokens: 24, temperature: 1, samples: 2, seeds: [11, 12],
};

let storage: string;
const open = (
  model: GoldenModel, changes: Partial<LoadOptions['settings']> = {}, options: Partial<LoadOptions> = {},
): Promise<LocalModel> =>
  LocalModel.open({
    settings: { folder: modelFolder(model), device: 'cpu', precision: 'full', adapters: true, storage, ...changes },
    device: 'cpu', deviceReasons: [], threads: 1, ...options,
  });

describe('a model in this process', () => {
  let qwen2: LocalModel;
  let untied: LocalModel;
  beforeAll(async () => {
    storage = await mkdtemp(path.join(tmpdir(), 'conductor-local-model-'));
    [qwen2, untied] = [await open('qwen2-tiny'), await open('qwen2-tiny-untied', { adapters: false })];
  });
  afterAll(async () => {
    await Promise.all([qwen2.close(), untied.close()]);
    await rm(storage, { recursive: true, force: true });
  });

  it('writes what follows the prefill, and tells all of the text in pieces', async () => {
    const pieces = ['', ''];
    const prefill = 'The answer: ';
    const onText = (sample: number, text: string): void => { pieces[sample] += text; };
    const written = await qwen2.write({ ...QUESTION, prefill, onText });
    const tokenizer = await openTokenizer(modelFolder('qwen2-tiny'));
    expect(written.map(({ text }) => text)).toEqual(pieces);
    for (const { text, tokenIds, promptTokenIds, logprobs } of written) {
      expect(text).toBe(prefill + tokenizer.decode(tokenIds, { skipSpecial: true }));
      expect(promptTokenIds).toEqual(tokenizer.chat(QUESTION.messages, { prefill }));
      expect(logprobs).toHaveLength(tokenIds.length);
    }
    expect(written[0]?.tokenIds).not.toEqual(written[1]?.tokenIds);
  });

  it('writes the same with and without somebody who reads along', async () => {
    const alone = await qwen2.write(QUESTION);
    const streamed = await qwen2.write({ ...QUESTION, onText: () => {} });
    expect(streamed).toEqual(alone);
  });

  it('gives log-probabilities that scoring the same tokens confirms', async () => {
    const [written] = await qwen2.write({ ...QUESTION, samples: 1, seeds: [5] });
    const { promptTokenIds = [], tokenIds = [], logprobs = [] } = written ?? {};
    const sequences = [[...promptTokenIds, ...tokenIds]];
    const [scores = []] = await qwen2.score({ sequences, promptLengths: [promptTokenIds.length] });
    expect(scores).toHaveLength(logprobs.length);
    scores.forEach((score, place) => expect(score).toBeCloseTo(logprobs[place] as number, 3));
  });

  it('holds the text after the prefill to a grammar, to its end', async () => {
    const colours = sequence(choice(literal('red'), literal('blue')), literal(', '), repeat(oneOf('0123456789'), 1, 40));
    const written = await qwen2.write({ ...QUESTION, prefill: 'Colour: ', grammar: colours });
    for (const { text, finishReason } of written) {
      expect(text).toMatch(/^Colour: (red|blue), \d{1,40}$/);
      expect(finishReason).toBe('stop');
    }
    expect(await qwen2.write({ ...QUESTION, prefill: 'Colour: ', grammar: structuredClone(colours) })).toEqual(written);
  });

  it('holds a plan to its grammar with tokens that write spaces by a sign and rare characters by their bytes', async () => {
    const llama = await open('llama-tiny');
    const grammar = planGrammar({ workers: 2, maximumSteps: 2, revision: false, tokensPerSubtask: 20, prefill: 'Plan' });
    const written = await llama.write({ ...QUESTION, maxTokens: 400, prefill: 'Plan', grammar });
    const automaton = compilePattern(grammar);
    for (const { text, tokenIds, finishReason } of written) {
      expect(finishReason).toBe('stop');
      expect(text.startsWith('Plan')).toBe(true);
      expect(accepts(automaton, text.slice('Plan'.length))).toBe(true);
      const read = await llama.encode({ ...QUESTION, prefill: 'Plan' }, { text: text.slice('Plan'.length), ends: true });
      const tokenizer = await openTokenizer(modelFolder('llama-tiny'));
      // The tokens that imitate this text write the same bytes.
      expect(tokenizer.decode(read.tokenIds, { skipSpecial: true, continues: true })).toBe(tokenizer.decode(tokenIds, { skipSpecial: true, continues: true }));
    }
    await llama.close();
  });

  it('refuses a grammar whose shortest text does not fit', async () => {
    const grammar = literal('x'.repeat(200));
    await expect(qwen2.write({ ...QUESTION, grammar })).rejects.toThrow(/takes at least \d+ tokens, and there is room for 24/);
  });

  it('answers with what room is left in its context, and says so when there is none', async () => {
    const short = await open('qwen2-tiny', { contextLength: 64 });
    const [written] = await short.write({ ...QUESTION, maxTokens: 1_000, samples: 1, seeds: [3] });
    const { promptTokenIds = [], tokenIds = [], finishReason } = written ?? {};
    if (finishReason === 'length') expect(promptTokenIds.length + tokenIds.length).toBe(64);
    else expect(promptTokenIds.length + tokenIds.length).toBeLessThanOrEqual(64);
    const long = [{ role: 'user' as const, content: 'river '.repeat(100) }];
    await expect(short.write({ ...QUESTION, messages: long })).rejects.toThrow(/reads at most 64/);
    await short.close();
  });

  it('uses ids without a tokenizer, and says that writing needs one', async () => {
    const { prompts, newTokens, base } = await readFigures('qwen2-tiny-untied');
    const seeds = prompts.map(() => 0);
    const rows = await untied.generate({ prompts, samples: 1, maxTokens: newTokens, temperature: 0, seeds });
    expect(rows.map(({ tokens }) => tokens)).toEqual(base.greedy.tokens);
    await expect(untied.write(QUESTION)).rejects.toThrow(TokenizerMissingError);
  });

  it('is not put off by a stop token that it has no id for', async () => {
    const folder = path.join(storage, 'many-stops');
    await cp(modelFolder('qwen2-tiny'), folder, { recursive: true });
    await writeFile(path.join(folder, 'generation_config.json'), JSON.stringify({ eos_token_id: [0, 999_999] }));
    const model = await open('qwen2-tiny', { folder });
    const rows = await model.generate({ prompts: [[1, 2]], samples: 1, maxTokens: 4, temperature: 0, seeds: [0] });
    expect(rows[0]?.tokens.length).toBeGreaterThan(0);
    expect(await model.write(QUESTION)).toHaveLength(2);
    await model.close();
  });

  it('takes an adapter by its folder, and the new one when the folder has another', async () => {
    const { prompts, newTokens, adapters } = await readFigures('qwen2-tiny');
    const folder = path.join(storage, 'adapter');
    const seeds = prompts.map(() => 0);
    const greedy = async (adapter: string) => {
      const rows = await qwen2.generate({ prompts, samples: 1, maxTokens: newTokens, temperature: 0, seeds, adapter });
      return rows.map(({ tokens }) => tokens);
    };
    await cp(adapterFolder('qwen2-tiny-all'), folder, { recursive: true });
    expect(await greedy(folder)).toEqual(adapters['qwen2-tiny-all']?.greedy.tokens);
    await rm(folder, { recursive: true });
    await cp(adapterFolder('qwen2-tiny-attention'), folder, { recursive: true });
    expect(await greedy(folder)).toEqual(adapters['qwen2-tiny-attention']?.greedy.tokens);
  });

  it('says so where an adapter drives its numbers out of their range', async () => {
    const folder = path.join(storage, 'too-strong');
    await cp(adapterFolder('qwen2-tiny-all'), folder, { recursive: true });
    const config = JSON.parse(await readFile(path.join(folder, 'adapter_config.json'), 'utf8')) as object;
    await writeFile(path.join(folder, 'adapter_config.json'), JSON.stringify({ ...config, lora_alpha: 1e300 }));
    await expect(qwen2.write({ ...QUESTION, adapter: folder })).rejects.toThrow(NotANumberError);
    await expect(qwen2.write({ ...QUESTION, temperature: 0, adapter: folder })).rejects.toThrow(NotANumberError);
    await expect(qwen2.score({ sequences: [[1, 2, 3]], promptLengths: [1], adapter: folder })).rejects.toThrow(NotANumberError);
  });

  it('refuses an adapter of another model, and any where it was loaded without', async () => {
    const request = { sequences: [[1, 2, 3]], promptLengths: [1] };
    await expect(qwen2.score({ ...request, adapter: adapterFolder('qwen3-tiny-all') })).rejects.toThrow(AdapterError);
    const withAdapter = { ...request, adapter: adapterFolder('qwen2-tiny-all') };
    await expect(untied.score(withAdapter)).rejects.toThrow(/loaded without adapters/);
  });

  it('scores many sequences in several runs as it scores each alone', async () => {
    const { sequences, promptLengths, base } = await readFigures('qwen2-tiny');
    const times = 120;
    const scores = await qwen2.score({
      sequences: Array.from({ length: times }, () => sequences).flat(),
      promptLengths: Array.from({ length: times }, () => promptLengths).flat(),
    });
    expect(scores).toHaveLength(times * sequences.length);
    scores.forEach((row, index) => {
      const expected = base.completionLogprobs[index % sequences.length] ?? [];
      expect(row).toHaveLength(expected.length);
      row.forEach((score, place) => expect(Math.abs(score - (expected[place] as number))).toBeLessThan(2e-4));
    });
    await expect(qwen2.score({ sequences: [], promptLengths: [] })).resolves.toEqual([]);
    await expect(qwen2.score({ sequences: [[1]], promptLengths: [] })).rejects.toThrow(ModelRequestError);
  });

  it('takes a request that waits out of the queue when it is cancelled, and goes on with the others', async () => {
    const controller = new AbortController();
    const first = qwen2.write(QUESTION);
    const cancelled = qwen2.write({ ...QUESTION, signal: controller.signal });
    const last = qwen2.write(QUESTION);
    const reason = new Error('no longer wanted');
    controller.abort(reason);
    await expect(cancelled).rejects.toBe(reason);
    expect(await last).toEqual(await first);
  });

  it('keeps 4-bit weights in its storage, says what they take, and finds them there again', async () => {
    const phases: string[][] = [];
    const weightBytes: number[] = [];
    const answers: unknown[] = [];
    for (let time = 0; time < 2; time += 1) {
      const seen = new Set<string>();
      const model = await open('qwen3-tiny', { precision: '4-bit' }, { onProgress: ({ phase }) => void seen.add(phase) });
      const { precision, weightBytes: bytes } = await model.describe();
      expect(precision).toBe('4-bit');
      weightBytes.push(bytes);
      answers.push(await model.write(QUESTION));
      phases.push([...seen]);
      await model.close();
    }
    expect(phases).toEqual([['reading', 'quantizing', 'loading'], ['reading', 'loading']]);
    const full = await open('qwen3-tiny');
    expect(weightBytes[0]).toBeLessThan((await full.describe()).weightBytes);
    expect(answers[1]).toEqual(answers[0]);
    await full.close();
  });
});
