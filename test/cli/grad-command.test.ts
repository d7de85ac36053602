import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTensor } from '../../backend/lm/checkpoint/read-tensor.ts';
import { readSafetensorsHeader, storedTensor } from '../../backend/lm/checkpoint/safetensors-file.ts';
import { adapterFolder, modelFolder, readTrainingFigures, trainingFile } from '../golden/golden.ts';
import { conductorCommand, NO_STACK } from './run-conductor.ts';

const { places, run } = conductorCommand();
const ADAPTER = 'qwen2-tiny-all';

async function writeBatch(changes: object = {}): Promise<string> {
  const { sequences, promptLengths, oldLogprobs, advantages, clip } = await readTrainingFigures(ADAPTER);
  const batch = { sequences, prompt_lengths: promptLengths, old_logprobs: oldLogprobs, advantages, clip, ...changes };
  await writeFile(path.join(places.folder, 'batch.json'), JSON.stringify(batch));
  return 'batch.json';
}

const grad = (input: string, ...options: string[]) =>
  run([
    'grad', '--model', modelFolder('qwen2-tiny'), '--adapter', adapterFolder(ADAPTER), '--device', 'cpu', '--input', input,
    '--out', 'gradients.safetensors', ...options,
  ]);

async function tensorsIn(file: string): Promise<ReadonlyMap<string, Float32Array>> {
  const { tensors } = await readSafetensorsHeader(file);
  return new Map(await Promise.all(tensors.map(async (tensor) => [tensor.name, await readTensor(storedTensor(tensor))] as const)));
}

describe('conductor grad', () => {
  it.each(['grpo', 'dr_grpo'] as const)('prints the loss and writes the gradients that PyTorch has: %s', async (type) => {
    const figures = await readTrainingFigures(ADAPTER);
    const longest = ['--max-completion-length', `${figures.maxCompletionLength}`];
    const { code, stdout } = await grad(await writeBatch(), '--loss', type, '--temperature', `${figures.temperature}`, ...longest);
    expect(code).toBe(0);
    const printed = JSON.parse(stdout) as { loss: number; grad_norm: number };
    expect(Object.keys(printed)).toEqual(['loss', 'grad_norm']);
    const { loss, gradientNorm } = figures.cases[type];
    expect(printed.loss).toBeCloseTo(loss, 4);
    expect(printed.grad_norm / gradientNorm).toBeCloseTo(1, 4);
    const [ours, golden] = [await tensorsIn(path.join(places.folder, 'gradients.safetensors')), await tensorsIn(trainingFile(ADAPTER, type))];
    expect([...ours.keys()].sort()).toEqual([...golden.keys()].sort());
    for (const [name, values] of golden) {
      const most = values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
      const worst = values.reduce((largest, value, index) => Math.max(largest, Math.abs(value - ours.get(name)![index]!)), 0);
      expect(worst / most, name).toBeLessThan(1e-3);
    }
  }, 60_000);

  it.each([
    ['a loss that it does not know', {}, ['--loss', 'ppo'], '--loss takes grpo, dapo, dr_grpo, not "ppo".'],
    ['dr_grpo without the longest completion', {}, ['--loss', 'dr_grpo'], '--max-completion-length N'],
    ['a temperature of nothing', {}, ['--loss', 'grpo', '--temperature', '0'], '--temperature takes a number above 0'],
    ['too few advantages', { advantages: [1] }, ['--loss', 'grpo'], '6 lists of old log-probabilities and 1 advantages'],
    ['old log-probabilities of another length', { old_logprobs: [[1], [], [], [], [], []] }, ['--loss', 'grpo'], 'old_logprobs[0]: has 1 numbers'],
    ['no bounds of clipping', { clip: undefined }, ['--loss', 'grpo'], 'clip: '],
  ])('refuses %s in a sentence', async (_, changes, options, sentence) => {
    const { code, stdout, stderr } = await grad(await writeBatch(changes), ...options, '--out', 'none.safetensors');
    expect(code).not.toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toContain(sentence);
    expect(stderr).not.toMatch(NO_STACK);
    await expect(readFile(path.join(places.folder, 'none.safetensors'))).rejects.toThrow();
  });
});
