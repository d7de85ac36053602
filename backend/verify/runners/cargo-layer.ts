import { readdir, rename, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { shellQuote } from '../sandbox/sandbox.ts';
import { readReportFile } from './report-file.ts';
import { withEdits, type Word } from './shell-words.ts';
import type { PreparedBuild, RunToBuild } from './test-runner.ts';

/* The layer of cargo: its target folder, with the dependencies compiled. */

/** Nothing of a run's own build is kept, so the files of incremental builds would be written in vain. */
export const CARGO_ENVIRONMENT = { CARGO_TERM_COLOR: 'never', CARGO_INCREMENTAL: '0', RUST_BACKTRACE: '0' };

const METADATA = 'metadata.json';
/** Files that cargo and the compiler read only, so that a link is as good as the file. Most of the bytes are in them. */
const LINKED = 'linked';
/** The others, which cargo may write to. */
const COPIED = 'copied';

/**
 * Builds the dependencies ahead. `verbs` are the words of the command after which options may stand. The workspace's own packages are not
 * kept: what is compiled into them names the folder of the copy, and cargo would not notice that this is another one.
 */
export async function buildAhead({ command, keep, layer }: RunToBuild, verbs: readonly (Word | undefined)[]): Promise<PreparedBuild> {
  const edits = verbs.flatMap((verb) => (verb ? [{ start: verb.end, end: verb.end, text: ' --no-run --offline' }] : []));
  const copied = path.join(keep, COPIED);
  await mkdir(copied);
  return {
    command: [
      `${fromLayer(layer)}${withEdits(command, edits)}`,
      `cargo metadata --offline --format-version 1 >${shellQuote(path.join(keep, METADATA))}`,
      `cp -aL target ${shellQuote(copied)}`,
    ].join('\n'),
    environment: CARGO_ENVIRONMENT,
    finish: async () => {
      const own = await ownPackages(path.join(keep, METADATA));
      if (own.length === 0) return false;
      for (const folder of await profileFolders(path.join(copied, 'target'))) await dropOwn(folder, own);
      await moveLarge(copied, path.join(keep, LINKED));
      return true;
    },
  };
}

/** The lines that put a layer into the copy. */
export function fromLayer(layer: string | undefined): string {
  if (layer === undefined) return '';
  // The times of the files stay: cargo compares them with those of the sources of dependencies.
  return `cp -a ${shellQuote(path.join(layer, COPIED))}/. . && cp -rs ${shellQuote(path.join(layer, LINKED))}/. .\n`;
}

const metadataSchema = z.object({ packages: z.array(z.object({ name: z.string().regex(/^[\w-]+$/), source: z.string().nullable() })) });

/** The names of the packages that come from no registry and no repository. Empty if they are not known. */
async function ownPackages(file: string): Promise<readonly string[]> {
  try {
    const { packages } = metadataSchema.parse(JSON.parse(await readReportFile(file)));
    return packages.filter(({ source }) => source === null).map(({ name }) => name);
  } catch {
    return [];
  }
}

/** `target/debug`, and `target/x86_64-…/debug` where a platform is named. */
async function profileFolders(target: string): Promise<readonly string[]> {
  const found = await readdir(target, { recursive: true, withFileTypes: true }).catch(() => []);
  return found.filter((entry) => entry.isDirectory() && entry.name === '.fingerprint').map(({ parentPath }) => parentPath);
}

async function dropOwn(profile: string, names: readonly string[]): Promise<void> {
  const crates = names.map((name) => name.replaceAll('-', '_'));
  const isOwn = (entry: string): boolean =>
    [...names, ...crates, ...crates.map((name) => `lib${name}`)].some((name) => entry.startsWith(`${name}-`) || entry.startsWith(`${name}.`));
  for (const below of ['.fingerprint', 'build', 'deps'])
    for (const entry of await readdir(path.join(profile, below)).catch(() => []))
      if (isOwn(entry)) await rm(path.join(profile, below, entry), { recursive: true, force: true });
  const kept = new Set(['.fingerprint', 'build', 'deps']);
  for (const entry of await readdir(profile)) if (!kept.has(entry)) await rm(path.join(profile, entry), { recursive: true, force: true });
}

async function moveLarge(copied: string, linked: string): Promise<void> {
  await mkdir(linked);
  for (const entry of await readdir(copied, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.(?:rlib|rmeta|so|dylib)$/.test(entry.name)) continue;
    const folder = path.join(linked, path.relative(copied, entry.parentPath));
    await mkdir(folder, { recursive: true });
    await rename(path.join(entry.parentPath, entry.name), path.join(folder, entry.name));
  }
}
