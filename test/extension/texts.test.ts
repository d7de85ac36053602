import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseRoom, untranslatedIn } from './texts.ts';

const root = path.resolve(import.meta.dirname, '../..');

describe('the texts of the panel', () => {
  it('can all be translated: none stands outside l10n.t', async () => {
    const found = (await parseRoom('webview')).flatMap(untranslatedIn);
    expect(found).toEqual([]);
  });
});

/** What a translation keeps as it is: places for figures and names, icons, commands behind links, code and settings. */
const KEPT = [/\{\d+\}/g, /\$\([a-z-]+\)/g, /\]\(command:[\w.]+\)/g, /`[^`]+`/g, /#conductor\.[\w.]+#/g];

const keptOf = (text: string): readonly string[] => KEPT.flatMap((part) => text.match(part) ?? []).sort();

describe.each([
  { english: 'l10n/bundle.l10n.json', others: await filesLike('l10n', /^bundle\.l10n\.[\w-]+\.json$/) },
  { english: 'package.nls.json', others: await filesLike('.', /^package\.nls\.[\w-]+\.json$/) },
])('the translations of $english', ({ english, others }) => {
  it('are there in German', () => {
    expect(others).toContain(english.replace('.json', '.de.json'));
  });

  it.each(others)('%s says the same things, with the same places in them', async (file) => {
    const [said, translated] = await Promise.all([english, file].map(read));
    expect(Object.keys(translated ?? {})).toEqual(Object.keys(said ?? {}));
    for (const [key, text] of Object.entries(translated ?? {})) expect(keptOf(text), key).toEqual(keptOf(said?.[key] ?? ''));
  });
});

async function filesLike(folder: string, name: RegExp): Promise<readonly string[]> {
  return (await readdir(path.join(root, folder))).filter((file) => name.test(file)).map((file) => path.posix.join(folder, file));
}

async function read(file: string): Promise<Readonly<Record<string, string>>> {
  return JSON.parse(await readFile(path.join(root, file), 'utf8')) as Record<string, string>;
}
