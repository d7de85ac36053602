import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkIntegrity, fetchPackage, FetchPackageError } from '../../packaging/fetch-package.ts';

describe('a package for another platform', () => {
  it('is used only if it is, byte for byte, the one that was locked', () => {
    const archive = new TextEncoder().encode('an archive');
    const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
    expect(() => checkIntegrity('a-package', archive, integrity)).not.toThrow();
    expect(() => checkIntegrity('a-package', archive.subarray(1), integrity)).toThrow(FetchPackageError);
  });

  it('is not asked for when the lock file does not name it', async () => {
    const root = await mkdtemp(path.join(tmpdir(), 'conductor-lock-'));
    try {
      await writeFile(path.join(root, 'package-lock.json'), JSON.stringify({ packages: {} }));
      await expect(fetchPackage('@vscode/ripgrep-win32-x64', root)).rejects.toThrow('does not name @vscode/ripgrep-win32-x64');
    } finally {
      await rm(root, { recursive: true });
    }
  });
});
