import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EMBEDDED_PARTS } from '../../packaging/embedded-parts.ts';
import { isPermissive, noticesOf, NoticesError, writeNotices } from '../../packaging/notices.ts';
import { packageOf } from '../../packaging/package-of.ts';

let folder: string;
let texts: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'conductor-notices-'));
  texts = path.join(folder, 'texts');
  await mkdir(texts);
});
afterEach(() => rm(folder, { recursive: true }));

/** @returns the folder of a package that is installed there. */
async function install(
  name: string, license: unknown, files: Readonly<Record<string, string>> = {}, version = '1.0.0',
): Promise<string> {
  const place = path.join(folder, 'node_modules', `${name}-${version}`);
  await mkdir(place, { recursive: true });
  await writeFile(path.join(place, 'package.json'), JSON.stringify({ name, version, license }));
  for (const [file, text] of Object.entries(files)) await writeFile(path.join(place, file), text);
  return place;
}

describe('a licence', () => {
  it('may ship where one of the choices it leaves is permissive in all its parts', () => {
    for (const license of ['MIT', 'Apache-2.0 AND BSD-3-Clause', '(MPL-2.0 OR Apache-2.0)', 'BSD-3-Clause OR GPL-2.0']) {
      expect(isPermissive(license), license).toBe(true);
    }
    for (const license of ['GPL-3.0-only', 'MPL-2.0', 'MIT AND LGPL-2.1-only', 'SEE LICENSE IN EULA.md', 'none', '']) {
      expect(isPermissive(license), license).toBe(false);
    }
  });
});

describe('the notices', () => {
  it('give each package with its version, its licence and all texts it brings', async () => {
    const packages = [
      await install('zeta', 'MIT', { LICENSE: 'Copyright Zeta', 'ThirdPartyNotices.txt': 'Copyright Eta', 'index.js': 'none' }),
      await install('@scope/alpha', 'ISC', { 'licence.md': '\uFEFFCopyright\r\nAlpha' }),
    ];
    const notices = await noticesOf({ packages, files: [], texts });
    expect(notices).toEqual([
      { name: '@scope/alpha', version: '1.0.0', license: 'ISC', text: 'Copyright\nAlpha' },
      { name: 'zeta', version: '1.0.0', license: 'MIT', text: 'Copyright Zeta\n\nCopyright Eta' },
    ]);
    const written = writeNotices(notices);
    expect(written).toContain('- @scope/alpha 1.0.0: ISC\n- zeta 1.0.0: MIT\n');
    expect(written.indexOf('Copyright\nAlpha')).toBeGreaterThan(written.indexOf('- zeta'));
  });

  it('name two versions of a package, and one version in two places once', async () => {
    const packages = [
      await install('zod', 'MIT', { LICENSE: 'Copyright' }, '3.0.0'),
      await install('zod', 'MIT', { LICENSE: 'Copyright' }, '4.0.0'),
    ];
    const notices = await noticesOf({ packages: [...packages, ...packages], files: [], texts });
    expect(notices.map(({ version }) => version)).toEqual(['3.0.0', '4.0.0']);
  });

  it('take a text that a package leaves out from where we keep it', async () => {
    const packages = [await install('@scope/bare', 'MIT')];
    await writeFile(path.join(texts, '@scope+bare.txt'), 'Copyright Bare');
    expect(await noticesOf({ packages, files: [], texts })).toMatchObject([{ name: '@scope/bare', text: 'Copyright Bare' }]);
  });

  it('say all that is wrong at once: licences that ask for more, and texts that are missing', async () => {
    const packages = [
      await install('copyleft', 'GPL-3.0-only', { LICENSE: 'GNU' }),
      await install('unsaid', undefined, { LICENSE: 'All rights reserved' }),
      await install('@scope/bare', 'MIT'),
    ];
    const refusal = await noticesOf({ packages, files: [], texts }).then(() => undefined, (error: unknown) => error);
    expect(refusal).toBeInstanceOf(NoticesError);
    expect((refusal as NoticesError).problems).toEqual([
      expect.stringMatching(/^copyleft is licensed as "GPL-3.0-only"/),
      expect.stringMatching(/^unsaid is licensed as "none"/),
      expect.stringMatching(/^@scope\/bare brings no text .* packaging\/texts\/@scope\+bare\.txt/),
    ]);
  });

  it('name what is inside a binary only where the binary ships, and ask the same of it', async () => {
    await writeFile(path.join(texts, 'inner.txt'), 'Copyright Inner');
    const inner = { name: 'inner', isIn: /\/bin\/tool$/, license: 'LGPL-2.1-or-later', text: 'inner.txt' };
    const files = ['dist/bin/tool'];
    expect(await noticesOf({ packages: [], files: ['dist/tool.js'], embedded: [inner], texts })).toEqual([]);
    await expect(noticesOf({ packages: [], files, embedded: [inner], texts })).rejects.toThrow('inner is licensed as "LGPL-2.1');
    const accepted = { ...inner, accepted: 'A program of its own.' };
    expect(writeNotices(await noticesOf({ packages: [], files, embedded: [accepted], texts }))).toContain(accepted.accepted);
    const untold = { ...accepted, text: 'none.txt' };
    await expect(noticesOf({ packages: [], files, embedded: [untold], texts })).rejects.toThrow('brings no text');
  });

  it('have the texts of all that is known to be inside our binaries, with a reason for each that is not permissive', async () => {
    const files = ['/dist/bin/rg', '/dist/tree-sitter-go.wasm', '/dist/libonnxruntime.so.1', '/dist/vendor/apply-seccomp'];
    const packages = [await install('@vscode/ripgrep-linux-x64', 'MIT', { LICENSE: 'Copyright' })];
    const notices = (await noticesOf({ packages, files })).filter(({ version }) => version === undefined);
    expect(notices.map(({ name }) => name)).toEqual(EMBEDDED_PARTS.map(({ name }) => name).sort());
    expect(notices.filter(({ license }) => !isPermissive(license)).map(({ name, accepted }) => [name, typeof accepted]))
      .toEqual([['GNU C Library', 'string'], ['Third parties of ONNX Runtime', 'string']]);
  });
});

describe('the package that a file belongs to', () => {
  it('is the innermost one', () => {
    expect(packageOf('node_modules/zod/v4/index.js')).toBe('node_modules/zod');
    expect(packageOf('node_modules/@a/b/node_modules/@c/d/index.js')).toBe('node_modules/@a/b/node_modules/@c/d');
    expect(packageOf('extension/extension.ts')).toBeUndefined();
  });
});
