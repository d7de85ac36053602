import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { adapterFolder, QWEN_MODELS, modelFolder, readFigures } from '../golden/golden.ts';
import { conductorCommand } from './run-conductor.ts';

const { places, start, run } = conductorCommand();
const on = (model: (typeof QWEN_MODELS)[number]): string[] => ['generate', '--model', modelFolder(model), '--device', 'cpu'];

async function tokens(args: readonly string[], input?: string): Promise<number[][]> {
  const { code, stdout, stderr } = await run(args, input === undefined ? {} : { input });
  expect(code, stderr).toBe(0);
  const printed = JSON.parse(stdout) as { tokens: number[][] };
  expect(Object.keys(printed)).toEqual(['tokens']);
  return printed.tokens;
}

describe.each(QWEN_MODELS)('conductor generate --input on %s', (model) => {
  it('continues each prompt greedily as transformers does, with and without adapter', async () => {
    const { prompts, newTokens, base, adapters } = await readFigures(model);
    // What follows the prompt is not read.
    const file = { sequences: prompts.map((prompt) => [...prompt, 1, 2, 3]), prompt_lengths: prompts.map(({ length }) => length) };
    await writeFile(path.join(places.folder, `${model}.json`), JSON.stringify(file));
    for (const [adapter, { greedy }] of [[undefined, base] as const, ...Object.entries(adapters)]) {
      const options = adapter === undefined ? [] : ['--adapter', adapterFolder(adapter)];
      expect(await tokens([...on(model), '--input', `${model}.json`, '--max-tokens', String(newTokens), ...options])).toEqual(greedy.tokens);
    }
  }, 60_000);
});

describe('conductor generate --input', () => {
  const drawn = [...on('qwen2-tiny'), '--input', '-', '--max-tokens', '20', '--temperature', '1', '--top-p', '0.95', '--top-k', '50'];

  it('draws the same again with the same seed, and gives row i the seed plus i', async () => {
    const prompts = [[5, 6, 7], [5, 6, 7], [8]];
    const input = JSON.stringify({ sequences: prompts, prompt_lengths: [3, 3, 1] });
    const rows = await tokens([...drawn, '--seed', '7'], input);
    expect(rows[0]).not.toEqual(rows[1]);
    expect(await tokens([...drawn, '--seed', '7', '--json'], input)).toEqual(rows);
    const second = JSON.stringify({ sequences: [[5, 6, 7]], prompt_lengths: [3] });
    expect(await tokens([...drawn, '--seed', '8'], second)).toEqual([rows[1]]);
  });

  it('continues more rows than fit at once as it would each of them', async () => {
    // Eleven times 1,500 tokens are more than are continued together.
    const long = (row: number): number[] => Array.from({ length: 1_480 }, (_, place) => (place * 7 + row) % 800);
    const sequences = Array.from({ length: 12 }, (_, row) => (row % 3 === 0 ? long(row) : [row + 1]));
    const file = (rows: readonly number[][]): string => JSON.stringify({ sequences: rows, prompt_lengths: rows.map(({ length }) => length) });
    const together = await tokens([...drawn, '--seed', '3'], file(sequences));
    expect(together).toHaveLength(12);
    for (const row of [0, 10, 11]) {
      expect(await tokens([...drawn, '--seed', String(3 + row)], file([sequences[row] as number[]]))).toEqual([together[row]]);
    }
  }, 60_000);
});

describe('conductor generate --prompt', () => {
  const prompt = [...on('qwen2-tiny'), '--prompt', 'Which is the longest river?'];

  it('prints the text, and the same as JSON with its tokens and why it ended', async () => {
    const said = await run([...prompt, '--max-tokens', '30']);
    const { code, stdout } = await run([...prompt, '--max-tokens', '30', '--json']);
    const printed = JSON.parse(stdout) as { text: string; tokens: number[]; finish_reason: string };
    expect(Object.keys(printed)).toEqual(['text', 'tokens', 'finish_reason']);
    expect(printed).toMatchObject({ finish_reason: 'length' });
    expect(printed.tokens).toHaveLength(30);
    expect(said.stdout).toBe(`${printed.text.replace(/[^\P{Cc}\t\n]/gu, '')}\n`);
    expect(said.stderr).toContain('--max-tokens allows more');
    expect([said.code, code]).toEqual([0, 0]);
  });

  it('writes while the model does, and the first Ctrl+C ends both with 130', async () => {
    const { child, result } = start([...prompt, '--max-tokens', '1900', '--temperature', '1', '--seed', '1']);
    await new Promise<void>((resolve) => { child.stdout.once('data', () => resolve()); });
    child.kill('SIGINT');
    const { code, stdout, stderr } = await result;
    expect(stderr).toContain('Cancelling');
    expect(stderr.trim().split('\n').at(-1)).toContain('Cancelling');
    expect(stdout.length).toBeGreaterThan(0);
    expect(code).toBe(130);
  });

  it('is ended by Ctrl+C while the model is loaded, too', async () => {
    const { child, output, result } = start([...prompt, '--max-tokens', '1900', '--temperature', '1', '--seed', '1', '--json']);
    await new Promise<void>((resolve) => { child.stderr.on('data', () => output.stderr.includes('Looking at the weights') && resolve()); });
    child.kill('SIGINT');
    expect(await result).toMatchObject({ code: 130, stdout: '' });
  });

  it('says that a model without a tokenizer reads token ids only', async () => {
    const { code, stdout, stderr } = await run([...on('qwen2-tiny-untied'), '--prompt', 'hello']);
    expect(stderr).toMatch(/only token ids can be used/);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });

  it.each([
    ['neither prompt nor input', [], /Give either --prompt TEXT, or --input FILE\.json/],
    ['both', ['--prompt', 'a', '--input', 'b'], /Give either/],
    ['an empty prompt', ['--prompt', ' '], /prompt is empty/],
    ['a prompt without its option', ['why?'], /--prompt "…" \(left over: why\?\)/],
    ['no tokens', ['--prompt', 'a', '--max-tokens', '0'], /--max-tokens takes a whole number from 1/],
    ['a negative temperature', ['--prompt', 'a', '--temperature=-1'], /--temperature takes 0/],
    ['a temperature that is no number', ['--prompt', 'a', '--temperature', 'hot'], /--temperature takes 0/],
    ['a share above one', ['--prompt', 'a', '--top-p', '1.5'], /--top-p takes a number above 0 and at most 1/],
    ['a count that is none', ['--prompt', 'a', '--top-k', '-1'], /top-k/],
    ['a seed that is none', ['--prompt', 'a', '--seed', 'x'], /--seed takes a whole number/],
  ])('%s is a mistake that is named', async (_name, args, says) => {
    const { code, stdout, stderr } = await run([...on('qwen2-tiny'), ...args]);
    expect(stderr).toMatch(says);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});
