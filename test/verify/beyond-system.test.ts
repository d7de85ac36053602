import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { closedSettings } from '../../backend/verify/sandbox/beyond-system.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

it('closed settings are found at any depth, each by the outermost folder that is closed', async () => {
  const folder = await temporaryFolder();
  const rights = { 'open/inner': 0o755, 'open/inner/file': 0o644, 'open/inner/key': 0o640, 'open/closed': 0o750, 'open/closed/key': 0o600, listed: 0o744, 'listed/file': 0o644 };
  for (const [name, mode] of Object.entries(rights)) {
    const entry = path.join(folder, name);
    if (/file|key/.test(name)) await writeFile(entry, '');
    else await mkdir(entry, { recursive: true });
    await chmod(entry, mode);
  }
  await symlink('closed/key', path.join(folder, 'open/link'));
  expect([...closedSettings(folder)].sort()).toEqual(['listed', 'open/closed', 'open/inner/key'].map((name) => path.join(folder, name)));
});
