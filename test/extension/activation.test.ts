import path from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const root = path.join(import.meta.dirname, '..', '..');

/** The files that run when the extension is loaded, each with the one that imports it: not what is imported while it works. */
async function loadedAtOnce(entry: string): Promise<ReadonlyMap<string, string>> {
  const { metafile } = await build({
    absWorkingDir: root, entryPoints: [entry], outdir: 'dist', external: ['vscode'],
    bundle: true, platform: 'node', format: 'cjs', write: false, metafile: true, logLevel: 'silent',
  });
  const kept = new Set(Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file)));
  const found = new Map([[entry, 'VS Code']]);
  for (const [file] of found) {
    for (const { path: imported, kind, external } of metafile.inputs[file]?.imports ?? []) {
      if (!external && kind !== 'dynamic-import' && kept.has(imported) && !found.has(imported)) found.set(imported, file);
    }
  }
  return found;
}

describe('the extension, when VS Code starts', () => {
  it('loads no library of more than a few lines: schemas and sockets wait for the first connection', async () => {
    const loaded = await loadedAtOnce('extension/extension.ts');
    const small = ['node_modules/diff/', 'node_modules/@vscode/l10n/'];
    const libraries = [...loaded].filter(([file]) => file.startsWith('node_modules/') && !small.some((folder) => file.startsWith(folder)));
    expect(libraries.map(([file, by]) => `${file}, for ${by}`)).toEqual([]);
  });
});
