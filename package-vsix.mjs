// Makes conductor-<version>-<platform>.vsix, for the platforms named or for all; vsce prints what is inside.
//   node package-vsix.mjs [PLATFORM …]
// A VSIX contains the binaries of one platform only, and THIRD-PARTY-NOTICES.txt lists its third-party parts. Both are checked.
// Build Linux and macOS packages on Linux or macOS: Windows loses the executable bits.
import { cp, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildBundles, copyFiles, writeSchemas } from './build.mjs';
import { refuseForeignBinaries } from './packaging/binaries.ts';
import { noticesOf, writeNotices } from './packaging/notices.ts';
import { pageInside } from './packaging/page.ts';

const root = path.dirname(fileURLToPath(import.meta.url));
const { createVSIX, listFiles, PackageManager } = createRequire(import.meta.url)('@vscode/vsce');

/** VS Code's platform names. onnxruntime has no build for darwin-x64: local models do not run there, everything else works. */
const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'darwin-x64', 'win32-x64', 'win32-arm64'];

/** A larger VSIX contains something by mistake, such as Node (189 MB). */
const SIZE_LIMIT_BYTES = 30 * 1024 * 1024;

/** What VS Code shows of the extension, by the name there. The repository's README is for people with a checkout. */
const PAGES = { 'README.md': 'docs/marketplace.md', 'CHANGELOG.md': 'CHANGELOG.md' };

const megabytes = (bytes) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

/** Copies the shipped files to a folder, by .vscodeignore. dist/ is built there separately, so the one in use does not change. */
async function stageSources(stage) {
  for (const file of await listFiles({ cwd: root, packageManager: PackageManager.None })) {
    if (!file.startsWith('dist/')) await cp(path.join(root, file), path.join(stage, file));
  }
  await cp(path.join(root, '.vscodeignore'), path.join(stage, '.vscodeignore'));
  const { repository } = await readManifest();
  const hasRepository = repository !== undefined;
  for (const [name, source] of Object.entries(PAGES)) {
    const page = pageInside(await readFile(path.join(root, source), 'utf8'), { folder: path.dirname(source), hasRepository });
    await writeFile(path.join(stage, name), page);
  }
}

async function readManifest() {
  return JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
}

async function filesIn(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name).replaceAll('\\', '/'));
}

/** @returns the size in bytes. */
async function packageFor(platform, stage, bundled) {
  const copied = await copyFiles(platform, path.join(stage, 'dist'));
  await refuseForeignBinaries(stage, platform);
  const notices = await noticesOf({ packages: [...new Set([...bundled, ...copied])], files: await filesIn(stage) });
  await writeFile(path.join(stage, 'THIRD-PARTY-NOTICES.txt'), writeNotices(notices));

  const { name, version } = await readManifest();
  const packagePath = path.join(root, `${name}-${version}-${platform}.vsix`);
  // Under a temporary name first: vsce writes for a while, and a half-written VSIX looks like a whole one.
  const unfinished = `${packagePath}.${process.pid}.tmp`;
  try {
    await createVSIX({
      cwd: stage,
      target: platform,
      packagePath: unfinished,
      dependencies: false,
      allowMissingRepository: true,
    });
    const { size } = await stat(unfinished);
    if (size > SIZE_LIMIT_BYTES) {
      const limit = megabytes(SIZE_LIMIT_BYTES);
      throw new Error(`The VSIX for ${platform} is ${megabytes(size)}, over the limit of ${limit}: see above what got in.`);
    }
    await rename(unfinished, packagePath);
    return { file: path.basename(packagePath), size };
  } finally {
    await rm(unfinished, { force: true });
  }
}

const platforms = process.argv.length > 2 ? process.argv.slice(2) : PLATFORMS;
const unknown = platforms.find((platform) => !PLATFORMS.includes(platform));
if (unknown) {
  console.error(`No VSIX can be made for "${unknown}"; the platforms are ${PLATFORMS.join(', ')}.`);
  process.exit(2);
}
const stage = await mkdtemp(path.join(tmpdir(), 'conductor-package-'));
try {
  const { packages } = await buildBundles({ minify: true, out: path.join(stage, 'dist') });
  await writeSchemas(path.join(stage, 'dist'));
  await stageSources(stage);
  const made = [];
  for (const platform of platforms) made.push(await packageFor(platform, stage, packages));
  for (const { file, size } of made) console.log(`${megabytes(size).padStart(8)}  ${file}`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await rm(stage, { recursive: true, force: true });
}
