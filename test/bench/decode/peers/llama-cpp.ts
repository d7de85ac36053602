import { parseArgs } from 'node:util';
import type * as Library from 'node-llama-cpp';
import type { GenerateRequest, Scored, ScoreRequest } from '../peer.ts';
import { servePeer, type Timed } from '../serve-peer.ts';

/*
 * llama.cpp through node-llama-cpp:  llama-cpp.ts --model FILE.gguf --threads N --context N --sequences N [--vulkan LIBRARY]
 * With the address of a node-llama-cpp that has the Vulkan build, all layers are on the GPU.
 * One context with so many sequences of `context` tokens; the rows of a batch are sequences that are decoded together.
 */

const { values } = parseArgs({
  options: {
    model: { type: 'string' }, threads: { type: 'string' }, context: { type: 'string' }, sequences: { type: 'string' }, vulkan: { type: 'string' },
  },
});
const threads = Number(values.threads);
const began = performance.now();
const { getLlama, getModuleVersion } = (await import(values.vulkan ?? 'node-llama-cpp')) as typeof Library;
const llama = await getLlama({ gpu: values.vulkan === undefined ? false : 'vulkan', build: 'never', maxThreads: threads, logLevel: 'error' });
// Without a device llama.cpp computes on the CPU and says nothing.
const gpus = values.vulkan === undefined ? [] : await llama.getGpuDeviceNames();
if (values.vulkan !== undefined && gpus.length === 0) throw new Error('llama.cpp finds no Vulkan device.');
const model = await llama.loadModel({ modelPath: values.model as string, ...(values.vulkan !== undefined && { gpuLayers: 'max' }) });
const context = await model.createContext({
  sequences: Number(values.sequences), contextSize: Number(values.context), threads: { ideal: threads, min: threads },
});
const sequences = Array.from({ length: Number(values.sequences) }, () => context.getSequence());

const version = `node-llama-cpp ${await getModuleVersion()}, llama.cpp ${llama.llamaCppRelease.release}${values.vulkan === undefined ? '' : `, Vulkan on ${gpus.join(', ')}`}`;
await servePeer({ version, loadSeconds: (performance.now() - began) / 1000 }, generate, score);
await llama.dispose();

interface Row {
  readonly sequence: Library.LlamaContextSequence;
  readonly prompt: readonly number[];
  readonly tokens: number[];
}

/**
 * All rows ask for their next token at the same moment: only then does node-llama-cpp decode them as one batch. Rows that go on
 * as soon as they can, as with `evaluate`, are decoded nearly one by one.
 */
async function generate({ prompts, newTokens }: GenerateRequest): Promise<Timed> {
  const start = performance.now();
  const rows = prompts.map((prompt, row): Row => ({ sequence: sequences[row] as Library.LlamaContextSequence, prompt, tokens: [] }));
  const at: number[] = [];
  while (at.length < newTokens) {
    await Promise.all(rows.map(async ({ sequence, prompt, tokens }) => {
      const last = tokens.at(-1);
      tokens.push(await nextToken(sequence, last === undefined ? prompt : [last]));
    }));
    at.push((performance.now() - start) / 1000);
  }
  await Promise.all(rows.map(({ sequence }) => sequence.clearHistory()));
  const first = at[0] as number;
  const endSeconds = at.at(-1) as number;
  return { tokens: rows.map(({ tokens }) => tokens), firstTokenSeconds: first, fromTokens: 1, fromSeconds: first, endSeconds };
}

async function nextToken(sequence: Library.LlamaContextSequence, fed: readonly number[]): Promise<number> {
  const last = fed.length - 1;
  const wanted = { generateNext: { token: true, options: { temperature: 0 } } } as const;
  const outputs = await sequence.controlledEvaluate(fed.map((token, index) => (index === last ? [token, wanted] : token)));
  return outputs[last]?.next.token as number;
}

async function score({ texts }: ScoreRequest): Promise<Scored> {
  const [sequence] = sequences;
  if (!sequence) throw new Error('There is no sequence.');
  // Nothing of the sampler may change the model's own probabilities.
  const unchanged = { generateNext: { probabilities: true, options: { temperature: 1, topK: 0, topP: 1, minP: 0 } } } as const;
  const logprobs: number[][] = [];
  for (const text of texts) {
    const outputs = await sequence.controlledEvaluate(text.slice(0, -1).map((token) => [token, unchanged]));
    logprobs.push(outputs.map((output, index) => Math.log(output?.next.probabilities?.get(text[index + 1] as number) ?? Number.NaN)));
    await sequence.clearHistory();
  }
  return { logprobs };
}
