import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { adapterFolder, QWEN_MODELS, type GoldenModel, modelFolder, readFigures } from '../golden/golden.ts';
import { conductorCommand, NO_STACK } from './run-conductor.ts';

const { places, run } = conductorCommand();

/** docs/decisions and the golden figures: everything computes in float32 on a CPU. */
const TOLERANCE = 2e-4;

async function writeGolden(model: GoldenModel) {
  const figures = await readFigures(model);
  const file = `${model}.json`;
  await writeFile(path.join(places.folder, file), JSON.stringify({ sequences: figures.sequences, prompt_lengths: figures.promptLengths }));
  return { ...figures, file };
}

function largestDifference(scores: readonly (readonly number[])[], expected: readonly (readonly number[])[]): number {
  expect(scores.map((row) => row.length)).toEqual(expected.map((row) => row.length));
  return Math.max(...scores.flatMap((row, index) => row.map((score, place) => Math.abs(score - (expected[index]?.[place] ?? NaN)))));
}

describe.each(QWEN_MODELS)('conductor logprobs on %s', (model) => {
  it('prints what PyTorch says, with and without adapter, and nothing else on standard output', async () => {
    const { file, base, adapters } = await writeGolden(model);
    for (const [adapter, { completionLogprobs }] of [[undefined, base] as const, ...Object.entries(adapters)]) {
      const options = adapter === undefined ? [] : ['--adapter', adapterFolder(adapter)];
      const { code, stdout } = await run(['logprobs', '--model', modelFolder(model), '--device', 'cpu', '--input', file, ...options]);
      expect(code).toBe(0);
      const printed = JSON.parse(stdout) as { completion_logprobs: number[][] };
      expect(Object.keys(printed)).toEqual(['completion_logprobs']);
      expect(largestDifference(printed.completion_logprobs, completionLogprobs)).toBeLessThan(TOLERANCE);
    }
  }, 60_000);
});

describe('conductor logprobs', () => {
  it('reads standard input, says what the model takes before it is loaded, and that there is no GPU for it', async () => {
    const { file: _file, sequences, promptLengths, base } = await writeGolden('qwen2-tiny');
    const input = JSON.stringify({ sequences, prompt_lengths: promptLengths, note: 'a script\'s own' });
    // Whatever this machine has, no GPU may be used.
    const environment = { CUDA_VISIBLE_DEVICES: '' };
    const { code, stdout, stderr } = await run(['logprobs', '-m', modelFolder('qwen2-tiny'), '--device', 'cuda', '-i', '-'], { input, environment });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^[^\n]*(NVIDIA driver|nvidia-smi|CUDA)[^\n]*\.\nWeights: [^\n]+\n(.+\n)*Total: \d+ MB on the CPU\n/);
    const { completion_logprobs: scores } = JSON.parse(stdout) as { completion_logprobs: number[][] };
    expect(largestDifference(scores, base.completionLogprobs)).toBeLessThan(TOLERANCE);
  });

  it('computes with 8-bit and 4-bit weights, which are near and not the same', async () => {
    const { file, base } = await writeGolden('qwen3-tiny');
    const differences: number[] = [];
    for (const precision of ['8-bit', '4-bit']) {
      const { stdout } = await run(['logprobs', '--model', modelFolder('qwen3-tiny'), '--device', 'cpu', '--precision', precision, '--input', file]);
      const { completion_logprobs: scores } = JSON.parse(stdout) as { completion_logprobs: number[][] };
      differences.push(largestDifference(scores, base.completionLogprobs));
    }
    const [of8bits = NaN, of4bits = NaN] = differences;
    expect(of8bits).toBeGreaterThan(TOLERANCE);
    expect(of4bits).toBeGreaterThan(2 * of8bits);
    expect(of4bits).toBeLessThan(20);
  });

  it('prints an empty list where there is nothing to score', async () => {
    const args = ['logprobs', '--model', modelFolder('qwen2-tiny'), '--device', 'cpu', '--input', '-'];
    expect(await run(args, { input: '{"sequences":[],"prompt_lengths":[]}' })).toMatchObject({ code: 0, stdout: '{"completion_logprobs":[]}\n' });
  });
});

const tiny = ['logprobs', '--model', modelFolder('qwen2-tiny'), '--device', 'cpu'];
const one = (sequences: unknown, lengths: unknown): string => JSON.stringify({ sequences, prompt_lengths: lengths });

describe('what is wrong is said in one sentence', () => {
  it.each([
    ['no JSON', '{"sequences": [[1', 1, /Standard input is not JSON; it must be of the form \{"sequences"/],
    ['bytes that are no text', Buffer.from('{"sequences": [], "prompt_lengths": [], "\xff": 1}', 'latin1'), 1, /not JSON/],
    ['another form', '[[1, 2]]', 1, /is not of the form .*expected object/],
    ['a missing list', '{"sequences": [[1]]}', 1, /prompt_lengths: /],
    ['a text for a number', one([[1, '2']], [1]), 1, /sequences\[0\]\[1\]: /],
    ['half a token', one([[1], [2, 2.5]], [1, 1]), 1, /sequences\[1\]\[1\]: /],
    ['a negative token', one([[-1]], [1]), 1, /sequences\[0\]\[0\]: /],
    ['a prompt of nothing', one([[1]], [0]), 1, /prompt_lengths\[0\]: /],
    ['a prompt longer than its sequence', one([[1, 2], [1, 2]], [2, 3]), 1, /prompt_lengths\[1\]: is 3, and the sequence has 2 tokens/],
    ['lists of different lengths', one([[1, 2]], [1, 1]), 1, /there are 1 sequences and 2 prompt lengths/],
    ['a token that the model does not have', one([[1, 832]], [1]), 1, /832/],
  ])('%s', async (_name, input, expected, says) => {
    const { code, stdout, stderr } = await run([...tiny, '--input', '-'], { input });
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(NO_STACK);
    expect(stdout).toBe('');
    expect(code).toBe(expected);
  });

  const model = ['--model', modelFolder('qwen2-tiny')];
  const input = ['--input', '-'];
  it.each([
    ['no model', input, 2, /--model DIR/],
    ['no input', model, 2, /--input FILE\.json/],
    ['a word too many', [...model, ...input, 'why'], 2, /left over: why/],
    ['an unknown option', [...model, ...input, '--wat'], 2, /wat/],
    ['an unknown device', [...model, ...input, '--device', 'tpu'], 2, /--device takes auto, cuda, webgpu, cpu, not "tpu"/],
    ['an unknown precision', [...model, ...input, '--precision', '2-bit'], 2, /--precision takes full, 8-bit, 4-bit, not "2-bit"/],
    ['a file that is not there', [...model, '--input', 'nowhere.json'], 1, /nowhere\.json could not be read \(ENOENT\)/],
    ['a folder for a file', [...model, '--input', '.'], 1, /could not be read \(EISDIR\)/],
    ['a model that is not there', ['--model', 'nowhere', ...input], 1, /no model nowhere on this machine, and no folder .*nowhere: .*conductor model pull/],
    ['a model that was not pulled', ['--model', 'acme/other', ...input], 1, /no model acme\/other on this machine/],
    ['a folder that is no model', ['--model', '.', ...input], 1, /config\.json/],
    ['an adapter that is not there', [...model, ...input, '--adapter', 'nowhere'], 1, /nowhere/],
    ['an adapter of another model', [...model, ...input, '--adapter', adapterFolder('qwen3-tiny-all')], 1, /trained for this model/],
  ])('%s', async (_name, args, expected, says) => {
    const { code, stdout, stderr } = await run(['logprobs', ...args], { input: one([[1, 2]], [1]) });
    expect(stderr).toMatch(says);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stdout).toBe('');
    expect(code).toBe(expected);
  });
});
