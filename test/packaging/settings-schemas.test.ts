import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { trainingConfigSchema } from '../../backend/protocol/training.ts';
import { workersFileSchema } from '../../backend/protocol/worker-config.ts';
import { documentedSettings, settingsIn } from '../../packaging/settings-schemas.ts';

const root = path.resolve(import.meta.dirname, '../..');
const { listFiles, PackageManager } = createRequire(import.meta.url)('@vscode/vsce') as {
  readonly listFiles: (of: { readonly cwd: string; readonly packageManager: number }) => Promise<string[]>;
  readonly PackageManager: { readonly None: number };
};
const { writeSchemas } = await import(path.join(root, 'build.mjs')) as { readonly writeSchemas: (out: string) => Promise<void> };
const { contributes } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as
  { contributes: { jsonValidation: readonly { fileMatch: string; url: string }[] } };

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'conductor-schemas-'));
  for (const file of ['package.json', '.vscodeignore']) await cp(path.join(root, file), path.join(folder, file));
  await writeSchemas(path.join(folder, 'dist'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** As VS Code finds it for the file. */
async function schemaOf(fileMatch: string): Promise<z.core.JSONSchema.JSONSchema> {
  const { url = '' } = contributes.jsonValidation.find((validation) => validation.fileMatch === fileMatch) ?? {};
  return JSON.parse(await readFile(path.join(folder, url), 'utf8')) as z.core.JSONSchema.JSONSchema;
}

/** The objects in JSON that a document has, under a heading. */
async function examplesIn(document: string, heading: string): Promise<unknown[]> {
  const markdown = await readFile(path.join(root, 'docs', document), 'utf8');
  const section = markdown.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = '']) => JSON.parse(json) as unknown);
}

describe('the schemas with which VS Code checks settings files', () => {
  it('ship, and no others do', async () => {
    const shipped = (await listFiles({ cwd: folder, packageManager: PackageManager.None })).filter((file) => file.startsWith('dist/'));
    expect(shipped.map((file) => `./${file}`).sort()).toEqual(contributes.jsonValidation.map(({ url }) => url).sort());
  });

  it('are for files of Conductor alone: other programs have a workers.json, too', () => {
    expect(contributes.jsonValidation.map(({ fileMatch }) => fileMatch)).toEqual(['conductor.train.json', '.conductor/workers.json']);
  });

  it.each([
    { file: 'conductor.train.json', document: 'training.md', heading: 'Configuration', contract: trainingConfigSchema, least: {} },
    { file: '.conductor/workers.json', document: 'command-line.md', heading: 'workers.json', contract: workersFileSchema, least: { version: 1, workers: [] } },
  ])('take what the documents show of $file, what may be left out, and the defaults', async ({ file, document, heading, contract, least }) => {
    const schema = z.fromJSONSchema(await schemaOf(file));
    const examples = await examplesIn(document, heading);
    expect(examples).toHaveLength(1);
    for (const settings of [...examples, least, contract.parse(least)]) {
      expect(schema.safeParse(settings).error).toBeUndefined();
      expect(contract.safeParse(settings).error).toBeUndefined();
    }
  });

  it.each([
    ['conductor.train.json', { step: 5 }, { budget: { euros: 5 } }, { steps: 0 }, { loss: { type: 'ppo' } }],
    ['.conductor/workers.json', { version: 1, workers: [], worker: [] }, { version: 1, workers: [{ id: 'a', provider: 'local' }] }, { workers: [] }],
  ])('refuse in %s what is unknown, out of range or missing', async (file, ...wrong) => {
    const schema = z.fromJSONSchema(await schemaOf(file));
    expect(wrong.filter((settings) => schema.safeParse(settings).success)).toEqual([]);
  });
});

describe('the table of a training\'s settings', () => {
  it('has every setting with its default, and no other', async () => {
    const rows = documentedSettings(await readFile(path.join(root, 'docs/training.md'), 'utf8'));
    const told = rows.map(({ name, default: value }) => [name, value && JSON.parse(value)]);
    const settings = settingsIn(await schemaOf('conductor.train.json')).map(([name, { default: value }]) => [name, value]);
    expect(told.sort()).toEqual(settings.sort());
  });

  it('says in VS Code, too, what each setting does', async () => {
    const settings = new Map(settingsIn(await schemaOf('conductor.train.json')));
    expect(settings.get('loss.clip.low')).toMatchObject({ default: 0.2, markdownDescription: expect.stringContaining('ratio') as string });
    expect([...settings].filter(([, { markdownDescription }]) => !markdownDescription).map(([name]) => name)).toEqual([]);
  });
});
