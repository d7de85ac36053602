import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

/** What an extension is called that does as little as can be, to be measured beside Conductor in the same host. */
export const EMPTY = 'empty-beside-conductor';

export interface EmptyExtension {
  /** CommonJS of the extension. */
  readonly main: string;
  readonly contributes?: object;
}

/** @returns the path of its VSIX, beside the folder `at`. */
export async function packEmptyExtension(at: string, { main, contributes = {} }: EmptyExtension): Promise<string> {
  await mkdir(at);
  const manifest = {
    name: EMPTY, displayName: EMPTY, publisher: 'conductor', version: '0.0.1', engines: { vscode: '^1.104.0' },
    main: './main.cjs', activationEvents: ['onStartupFinished'], extensionKind: ['workspace'], contributes,
  };
  await writeFile(path.join(at, 'package.json'), JSON.stringify(manifest));
  await writeFile(path.join(at, 'main.cjs'), main);
  await writeFile(path.join(at, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><circle cx="12" cy="12" r="9"/></svg>');
  await writeFile(path.join(at, 'README.md'), 'Next to nothing.\n');
  await writeFile(path.join(at, '.vscodeignore'), '');
  const { createVSIX } = createRequire(import.meta.url)('@vscode/vsce') as
    { createVSIX: (options: Readonly<Record<string, unknown>>) => Promise<void> };
  const vsix = `${at}.vsix`;
  await createVSIX({ cwd: at, packagePath: vsix, dependencies: false, allowMissingRepository: true, skipLicense: true });
  return vsix;
}
