import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const { listFiles, PackageManager } = createRequire(import.meta.url)('@vscode/vsce') as {
  readonly listFiles: (of: { readonly cwd: string; readonly packageManager: number }) => Promise<string[]>;
  readonly PackageManager: { readonly None: number };
};

describe('a VSIX', () => {
  it('holds the texts of every language', async () => {
    const shipped = await listFiles({ cwd: root, packageManager: PackageManager.None });
    const bundles = (await readdir(path.join(root, 'l10n'))).map((file) => `l10n/${file}`);
    const manifests = (await readdir(root)).filter((file) => /^package\.nls.*\.json$/.test(file));
    expect(bundles).toContain('l10n/bundle.l10n.de.json');
    expect(manifests).toContain('package.nls.de.json');
    expect(shipped).toEqual(expect.arrayContaining([...bundles, ...manifests]));
  });
});
