import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GoldenModel, modelFolder } from '../../golden/golden.ts';

/** The tokenizer of a tiny model, as plain data to be changed. */
export interface Definition {
  model: { type: string; vocab: Record<string, number>; merges: unknown[]; [field: string]: unknown };
  added_tokens: { id: number; content: string; [field: string]: unknown }[];
  [field: string]: unknown;
}

export async function goldenDefinition(model: GoldenModel = 'qwen3-tiny'): Promise<Definition> {
  return JSON.parse(await readFile(join(modelFolder(model), 'tokenizer.json'), 'utf8')) as Definition;
}

/** A folder of its own with these files, texts as they are and other values as JSON. It is gone when the scope ends. */
export async function tokenizerFolder(files: Readonly<Record<string, unknown>>): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'tokenizer-'));
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(path, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}
