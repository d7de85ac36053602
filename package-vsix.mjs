// Makes conductor-<version>-<platform>.vsix, for this machine or for the platforms named; vsce prints what is inside.
//   node package-vsix.mjs [PLATFORM …]
// A VSIX holds the binaries of one platform, which must be installed (build.mjs says how when they are not). Make those for Linux
// and macOS on Linux or macOS: Windows loses the executable bits.
import { readFile, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildAll, PLATFORMS, thisPlatform } from './build.mjs';

const root = path.dirname(fileURLToPath(import.meta.url));
const { createVSIX } = createRequire(import.meta.url)('@vscode/vsce');

/** A VSIX that grew past this carries something that does not belong there, such as Node (189 MB). */
const SIZE_LIMIT_BYTES = 30 * 1024 * 1024;

const megabytes = (bytes) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

/** @returns the path of the VSIX. */
async function packageFor(platform) {
  await buildAll({ minify: true, platform });
  const { name, version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  const packagePath = path.join(root, `${name}-${version}-${platform}.vsix`);
  // Under a temporary name first: vsce writes for a while, and a half-written VSIX looks like a whole one.
  const unfinished = `${packagePath}.tmp`;
  await createVSIX({
    cwd: root,
    target: platform,
    packagePath: unfinished,
    dependencies: false,
    allowMissingRepository: true,
    rewriteRelativeLinks: false,
  });
  const { size } = await stat(unfinished);
  if (size > SIZE_LIMIT_BYTES) {
    await rm(unfinished);
    throw new Error(
      `The VSIX for ${platform} is ${megabytes(size)}, and ${megabytes(SIZE_LIMIT_BYTES)} is the limit: see the list above for what got in.`,
    );
  }
  await rename(unfinished, packagePath);
  console.log(`${path.basename(packagePath)}: ${megabytes(size)}`);
  return packagePath;
}

const platforms = process.argv.length > 2 ? process.argv.slice(2) : [thisPlatform];
const unknown = platforms.find((platform) => !PLATFORMS.includes(platform));
if (unknown) {
  console.error(`No VSIX can be made for "${unknown}"; the platforms are ${PLATFORMS.join(', ')}.`);
  process.exit(2);
}
try {
  for (const platform of platforms) await packageFor(platform);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
