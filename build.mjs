// Bundles the programs into dist/ and copies the files that they need at run time.
//   node build.mjs [--minify] [--watch]
// package-vsix.mjs does the same for each platform, into a separate folder.
// The programs: the extension (in VS Code's extension host), the backend, the processes of the model, of mathematics and of a job on Windows,
// the command line, the pages: the panel's and that of evaluations.
import { chmod, copyFile, mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { LANGUAGES } from './backend/verify/syntax/language.ts';
import { packageOf } from './packaging/package-of.ts';
import { fetchPackage } from './packaging/fetch-package.ts';
import { settingsSchemas } from './packaging/settings-schemas.ts';

const root = path.dirname(fileURLToPath(import.meta.url));
const dist = path.join(root, 'dist');
const require = createRequire(import.meta.url);

const thisPlatform = `${process.platform}-${process.arch}`;

/** Written last by a complete build: `run-cli.mjs` compares the sources with it. */
const BUILD_STAMP = path.join(dist, '.built');

// Some libraries are CommonJS inside an ESM bundle and call `require` for Node's own modules.
const REQUIRE_BANNER = [
  "import { createRequire as __createRequire } from 'node:module';",
  'const require = __createRequire(import.meta.url);',
].join('\n');

/**
 * `@vscode/ripgrep` looks for its binary among installed packages, which a VSIX does not have. In the bundle, its only export is the path of
 * the copy made by `copyFiles`, so the sources import the package as usual.
 */
const ripgrepBesideTheBundle = {
  name: 'ripgrep-beside-the-bundle',
  setup(build) {
    build.onResolve({ filter: /^@vscode\/ripgrep$/ }, () => ({ path: 'ripgrep', namespace: 'beside-the-bundle' }));
    build.onLoad({ filter: /.*/, namespace: 'beside-the-bundle' }, () => ({
      contents: `
        import { fileURLToPath } from 'node:url';
        const file = process.platform === 'win32' ? './bin/rg.exe' : './bin/rg';
        export const rgPath = fileURLToPath(new URL(file, import.meta.url));`,
      loader: 'js',
    }));
  },
};

/**
 * An `import` of `node:http` reads every property of it, and by that loads the whole of Node's `fetch`, which takes a sixth of the start of
 * the command line. So the module is asked for as an object.
 */
const httpWithoutFetch = {
  name: 'http-without-fetch',
  setup(build) {
    build.onResolve({ filter: /^(node:)?http$/ }, ({ kind }) => (kind === 'import-statement' ? { path: 'http', namespace: 'as-an-object' } : undefined));
    build.onLoad({ filter: /.*/, namespace: 'as-an-object' }, () => ({ contents: "module.exports = process.getBuiltinModule('node:http');", loader: 'js' }));
  },
};

/** Writes a temporary file and renames it, so that a program started during a build finds a complete file, old or new. */
async function writeWhole(file, contents, mode = 0o644) {
  const temporary = `${file}.${process.pid}.tmp`;
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(temporary, contents, { mode });
  await rename(temporary, file);
}

async function copyWhole(from, to, mode) {
  const temporary = `${to}.${process.pid}.tmp`;
  await mkdir(path.dirname(to), { recursive: true });
  await copyFile(from, temporary);
  await chmod(temporary, mode);
  await rename(temporary, to);
}

/** Puts files into a folder, and removes those of earlier builds after that: a backend that runs meanwhile finds each at any time. @param files from, to, mode */
async function copyAlone(files, folder) {
  for (const [from, to, mode] of files) await copyWhole(from, path.join(folder, to), mode);
  await removeOthers(folder, new Set(files.map(([, to]) => path.join(folder, to))));
}

/** No file takes so long to write. */
const WRITTEN_WITHIN_MS = 600_000;

/** Removes the files of a folder but those, and but what another build is writing. */
async function removeOthers(folder, kept) {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])) {
    const found = path.join(entry.parentPath, entry.name);
    if (entry.isDirectory() || kept.has(found)) continue;
    const changedAtMs = (await stat(found).catch(() => undefined))?.mtimeMs;
    if (!found.endsWith('.tmp') || (changedAtMs !== undefined && Date.now() - changedAtMs > WRITTEN_WITHIN_MS)) await rm(found, { force: true });
  }
}

/** Writes the build's output for dist/ into a folder. */
const writeOutputs = (out) => ({
  name: 'write-outputs',
  setup(build) {
    build.onEnd(async (result) => {
      if (result.errors.length > 0) return;
      for (const file of result.outputFiles) {
        const target = path.join(out, path.relative(dist, file.path));
        const executable = file.contents[0] === 0x23 && file.contents[1] === 0x21; // #!
        await writeWhole(target, file.contents, executable ? 0o755 : 0o644);
      }
    });
  },
});

function bundles({ minify, out }) {
  const write = writeOutputs(out);
  const shared = {
    absWorkingDir: root,
    bundle: true,
    minify,
    sourcemap: minify ? false : 'linked',
    metafile: true,
    write: false,
    logLevel: 'warning',
    legalComments: 'none',
  };
  // VS Code 1.104, the oldest supported, runs extensions on Node 22.18.
  const node = { ...shared, platform: 'node', target: 'node22' };
  const esm = { ...node, format: 'esm', external: ['onnxruntime-node'], mainFields: ['module', 'main'] };
  return {
    extension: {
      ...node,
      format: 'cjs',
      entryPoints: ['extension/extension.ts'],
      outfile: 'dist/extension.cjs',
      external: ['vscode'],
      plugins: [write],
    },
    // What they share, and what they load only when it is needed, is in chunks beside them, so that a start reads only what it runs.
    'backend and command line': {
      ...esm,
      entryPoints: { backend: 'backend/main.ts', cli: 'backend/cli.ts' },
      outdir: 'dist',
      outExtension: { '.js': '.mjs' },
      splitting: true,
      chunkNames: 'chunk-[hash]',
      banner: { js: REQUIRE_BANNER },
      plugins: [ripgrepBesideTheBundle, httpWithoutFetch, write],
    },
    'model process': {
      ...esm,
      entryPoints: ['backend/model-process.ts'],
      outfile: 'dist/model-process.mjs',
      banner: { js: REQUIRE_BANNER },
      plugins: [write],
    },
    'mathematics process': {
      ...esm,
      // Minified always: nearly all of it is the algebra library, which needs no debugging, and this halves the size.
      minify: true,
      sourcemap: false,
      entryPoints: ['backend/verify/graders/math/math-process.ts'],
      outfile: 'dist/math-process.mjs',
      banner: { js: REQUIRE_BANNER },
      plugins: [write],
    },
    'process of a job on Windows': {
      ...esm,
      entryPoints: ['backend/verify/sandbox/windows/job-process.ts'],
      outfile: 'dist/job-process.mjs',
      plugins: [write],
    },
    panel: {
      ...shared,
      platform: 'browser',
      // The Chromium of VS Code 1.104.
      target: 'chrome138',
      format: 'iife',
      entryPoints: [
        { in: 'webview/main.tsx', out: 'webview' },
        { in: 'webview/panel.css', out: 'webview' },
        { in: 'webview/evaluation/main.tsx', out: 'evaluation' },
        { in: 'webview/evaluation.css', out: 'evaluation' },
      ],
      outdir: 'dist',
      loader: { '.ttf': 'file' },
      assetNames: '[name]',
      plugins: [write],
    },
  };
}

/**
 * Copies one platform's binaries and other files that are not JavaScript beside the bundles, and removes those of other platforms. The
 * third-party packages determine the paths.
 * @returns the folders of the source packages.
 */
export async function copyFiles(platform, out = dist) {
  const [system, arch] = platform.split('-');
  const ripgrep = system === 'win32' ? 'rg.exe' : 'rg';
  const ripgrepFolder = await platformPackage(`@vscode/ripgrep-${platform}`, createRequire(require.resolve('@vscode/ripgrep')).resolve);
  await copyAlone([[path.join(ripgrepFolder, 'bin', ripgrep), ripgrep, 0o755]], path.join(out, 'bin'));

  // sandbox-runtime looks for `vendor/` beside the file it was bundled into. On Windows there is no sandbox.
  const helpers = system === 'win32' ? [] : [['java-proxy-agent/srt-proxy-agent.jar', 0o644]];
  if (system === 'linux') helpers.push([`seccomp/${arch}/apply-seccomp`, 0o755]);
  await copyAlone(helpers.map(([helper, mode]) => [packageFile('@anthropic-ai/sandbox-runtime', `vendor/${helper}`), helper, mode]), path.join(out, 'vendor'));
  const loaded = [...(await onnxruntimeFiles(system, arch)), ...syntaxFiles()];
  const koffi = system === 'win32' ? await platformPackage(`@koromix/koffi-${platform}`) : undefined;
  const koffiFiles = ['package.json', 'index.js', `win32_${arch}/koffi.node`].map((file) => [`@koromix/koffi-${platform}`, file, koffi]);
  await copyPackages([...loaded, ...(koffi ? koffiFiles : [])], out);
  const names = [...new Set(loaded.map(([name]) => name)), ...(helpers.length > 0 ? ['@anthropic-ai/sandbox-runtime'] : [])];
  return [ripgrepFolder, ...(koffi ? [koffi] : []), ...names.map((name) => path.join(root, 'node_modules', name))];
}

/** npm installs packages with binaries for this machine only. Those for other platforms come from the registry, by the lock file. */
async function platformPackage(name, resolve = require.resolve) {
  try {
    return path.dirname(resolve(`${name}/package.json`));
  } catch {
    return fetchPackage(name, root);
  }
}

/**
 * What onnxruntime-node loads to run on a CPU, and nothing else of its package (the file names are those of 1.30). Left out:
 * DirectML.dll, dxcompiler.dll and dxil.dll, which are loaded only when DirectML or WebGPU is asked for; the second name of the
 * library for macOS, a copy of the first; the libraries that the package's install script needs. There is no build for darwin x64:
 * there the model's process says so.
 */
const ONNXRUNTIME_BINDING = 'onnxruntime_binding.node';
const ONNXRUNTIME_LIBRARIES = { linux: 'libonnxruntime.so.1', darwin: 'libonnxruntime.1.dylib', win32: 'onnxruntime.dll' };

async function onnxruntimeFiles(system, arch) {
  const binaries = `bin/napi-v6/${system}/${arch}`;
  const hasBuild = `${system}-${arch}` !== 'darwin-x64';
  const native = hasBuild ? [ONNXRUNTIME_BINDING, ONNXRUNTIME_LIBRARIES[system]].map((name) => `${binaries}/${name}`) : [];
  const scripts = async (name, folder) =>
    (await readdir(packageFile(name, folder))).filter((file) => file.endsWith('.js')).map((file) => `${folder}/${file}`);
  return [
    ...['package.json', ...(await scripts('onnxruntime-node', 'dist')), ...native].map((file) => ['onnxruntime-node', file]),
    ...['package.json', 'dist/cjs/package.json', ...(await scripts('onnxruntime-common', 'dist/cjs'))].map((file) => ['onnxruntime-common', file]),
  ];
}

/** The parser, and the grammars of the supported languages from its package. */
function syntaxFiles() {
  const grammars = LANGUAGES.map((language) => `wasm/tree-sitter-${language}.wasm`);
  return ['package.json', 'LICENSE', 'wasm/tree-sitter.js', 'wasm/tree-sitter.wasm', ...grammars].map((file) => ['@vscode/tree-sitter-wasm', file]);
}

/**
 * Puts files of packages where a bundle finds the packages that it loads at run time. onnxruntime's libraries are some 45 MB, and Windows
 * cannot replace one that is in use: files that are there already stay.
 * @param wanted the name of the package, the file's path in it, and its folder where it is not among the installed packages.
 */
async function copyPackages(wanted, out) {
  const target = path.join(out, 'node_modules');
  await removeOthers(target, new Set(wanted.map(([name, file]) => path.join(target, name, file))));
  for (const [name, file, folder] of wanted) {
    const from = folder === undefined ? packageFile(name, file) : path.join(folder, file);
    const to = path.join(target, name, file);
    if (!(await isCopyOf(to, from))) await copyWhole(from, to, 0o644);
  }
}

async function isCopyOf(copy, original) {
  const [made, source] = await Promise.all([copy, original].map((file) => stat(file).catch(() => undefined)));
  return made !== undefined && made.size === source?.size && made.mtimeMs >= source.mtimeMs;
}

/** A file of an installed package, whether or not the package exports it. */
function packageFile(name, file) {
  return path.join(root, 'node_modules', name, file);
}

/**
 * What would go unnoticed in the page for long: a second framework, since React comes along as a peer of the toolkit, and the validator,
 * which is more code than all of the page's own, and which any function beside a schema brings along.
 */
function refuseInThePanel(metafile) {
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  const refused = inputs.find(([file, { bytesInOutput }]) => bytesInOutput > 0 && /node_modules\/(react|react-dom|zod)\//.test(file))?.[0];
  if (!refused) return;
  throw new Error(
    `The panel's bundle contains ${refused}: import preact, the toolkit's web components, and of the protocol types and what stands ` +
      'apart from the schemas.',
  );
}

/**
 * Bundles the programs.
 * @returns the size in bytes of each output, by its path from the root, and the folders of the packages whose code is in one.
 */
export async function buildBundles({ minify = false, out = dist } = {}) {
  const results = await Promise.all(
    Object.values(bundles({ minify, out })).map(async (options) => {
      const result = await esbuild.build(options);
      if (options.platform === 'browser') refuseInThePanel(result.metafile);
      return Object.entries(result.metafile.outputs);
    }),
  );
  const outputs = results.flat().filter(([file]) => !file.endsWith('.map'));
  const inputs = outputs.flatMap(([, output]) => Object.entries(output.inputs));
  const bundled = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => packageOf(file));
  return {
    sizes: Object.fromEntries(outputs.map(([file, { bytes }]) => [file, bytes])),
    packages: [...new Set(bundled)].filter(Boolean).map((folder) => path.join(root, folder)),
  };
}

/** Writes the schemas of settings files to the paths in package.json. */
export async function writeSchemas(out = dist) {
  for (const [name, schema] of Object.entries(await settingsSchemas())) {
    await writeWhole(path.join(out, 'schemas', name), JSON.stringify(schema));
  }
}

/** A backend that runs may still load a chunk of the build that it comes from; so long, it is kept. */
const KEEP_CHUNKS_MS = 24 * 3_600_000;

async function removeOldChunks() {
  for (const name of await readdir(dist)) {
    if (!name.startsWith('chunk-')) continue;
    const file = path.join(dist, name);
    if (Date.now() - (await stat(file)).mtimeMs > KEEP_CHUNKS_MS) await rm(file);
  }
}

/** Builds everything once, for this machine. @returns the size in bytes of each bundle, by its path from the root. */
async function buildAll({ minify }) {
  const startedAt = new Date();
  await rm(BUILD_STAMP, { force: true });
  const { sizes } = await buildBundles({ minify });
  await writeSchemas();
  await copyFiles(thisPlatform);
  await removeOldChunks();
  await writeWhole(BUILD_STAMP, '');
  // A source changed during the build is newer than its output.
  await utimes(BUILD_STAMP, startedAt, startedAt);
  return sizes;
}

/** Builds, and rebuilds on changes, until the process ends. */
async function watch() {
  await writeSchemas();
  await copyFiles(thisPlatform);
  for (const [name, options] of Object.entries(bundles({ minify: false, out: dist }))) {
    const report = {
      name: 'report',
      setup: (build) => build.onEnd(({ errors }) => { if (errors.length === 0) console.log(`built the ${name}`); }),
    };
    const context = await esbuild.context({ ...options, plugins: [...options.plugins, report] });
    await context.watch();
  }
}

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const known = ['--minify', '--watch'];
  const unknown = process.argv.slice(2).find((argument) => !known.includes(argument));
  if (unknown) {
    console.error(`build.mjs does not know "${unknown}"; it takes ${known.join(' and ')}.`);
    process.exit(2);
  }
  try {
    if (process.argv.includes('--watch')) await watch();
    else {
      const sizes = await buildAll({ minify: process.argv.includes('--minify') });
      for (const [file, bytes] of Object.entries(sizes)) console.log(`${(bytes / 1024).toFixed(0).padStart(7)} kB  ${file}`);
    }
  } catch (error) {
    // esbuild has printed its own errors by now.
    if (!('errors' in error)) console.error(error.message);
    process.exit(1);
  }
}
