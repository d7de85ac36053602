import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, mkdir, readdir, readFile, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { GO_BUILD_CACHE, MEMORY } from '../sandbox/toolchains.ts';
import { shellQuote } from '../sandbox/shell-quote.ts';
import { readReportFile } from './report-file.ts';
import { withEdits, type Edit } from './shell-words.ts';
import type { PreparedBuild, RunToBuild } from './test-runner.ts';

/*
 * The layer of go: the entries of its build cache that the tests of the base need. Those of each package with tests are in a folder of their own, because
 * compiled tests hold what they expect: a run whose tests may be altered must not see them as they were.
 */

export const GO_ENVIRONMENT = { GOPROXY: 'off', GOFLAGS: '-buildvcs=false', GOTOOLCHAIN: 'local', GOTELEMETRY: 'off' };

const CACHE = 'go-build';
/** What does not belong to one package with tests. */
const SHARED = 'shared';
const PACKAGES = 'packages';
const HASHES = 'hashes';
const MAX_HASHES_BYTES = 256 * 1024 ** 2;

/** The folder of a layer, relative to it, with what was compiled of a package and its tests. */
export const layerOfPackage = (name: string): string => `${PACKAGES}/${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;

/**
 * The line that gives a run its cache. Compiling the standard library takes half a minute, so go starts with links to what was compiled before: by the base, or
 * else by the user. Both are read-only here. New packages go to a cache of this run, because a shared cache could be poisoned.
 */
export function linkedCache(layer: string | undefined): string {
  // Without a sandbox there is no layer, and cmd.exe makes no links: go uses its place in the home folder of the run.
  if (process.platform === 'win32') return '';
  const to = `"$${MEMORY}"/${CACHE}`;
  // What two packages share stands in the folders of both, and is linked once.
  const links = layer === undefined
    ? `if [ -d "$${GO_BUILD_CACHE}" ]; then cp -rs "$${GO_BUILD_CACHE}"/. ${to}/ 2>/dev/null; fi`
    : `cp -rs ${shellQuote(path.join(layer, SHARED))}/. ${shellQuote(path.join(layer, PACKAGES))}/*/. ${to}/ 2>/dev/null`;
  return `mkdir -p ${to}; ${links}; export GOCACHE=${to}; unset ${GO_BUILD_CACHE} ${MEMORY}`;
}

/**
 * Builds ahead by a command whose `edits` keep tests from being started. Go tells what it looks for in its cache (`gocachehash`), so that nothing else of the
 * user's cache has to be readable in later runs. Of the standard library, they get all that is compiled: a patch may import more of it.
 */
export function buildAhead({ command, keep, layer }: RunToBuild, edits: readonly Edit[]): PreparedBuild {
  const [cache, hashes] = [path.join(keep, CACHE), path.join(keep, HASHES)];
  const sources = [`"$${GO_BUILD_CACHE}"`, ...(layer === undefined ? [] : [shellQuote(path.join(layer, SHARED)), `${shellQuote(path.join(layer, PACKAGES))}/*`])];
  return {
    command: [
      `mkdir -p ${shellQuote(cache)}; cp -rs ${sources.map((source) => `${source}/.`).join(' ')} ${shellQuote(cache)}/ 2>/dev/null`,
      `export GOCACHE=${shellQuote(cache)} GODEBUG=gocachehash=1; unset ${GO_BUILD_CACHE}`,
      `{ go build -n std >/dev/null`,
      withEdits(command, edits),
      `} 2>>${shellQuote(hashes)}`,
    ].join('\n'),
    environment: GO_ENVIRONMENT,
    progress: () => builtIn(cache),
    finish: async () => {
      await keepUsed(keep, await readReportFile(hashes, MAX_HASHES_BYTES));
      return true;
    },
  };
}

/** What go asked its cache for, by the folder of the layer where it is kept. */
export function usedEntries(log: string): ReadonlyMap<string, ReadonlySet<string>> {
  const actions: { readonly what: string; readonly id: string }[] = [];
  const parents = new Map<string, string>();
  for (const line of log.split('\n')) {
    const [, what, id] = /^HASH\[([^"]*)\]: ([0-9a-f]{64})$/.exec(line) ?? [];
    if (what !== undefined && id !== undefined) actions.push({ what, id });
    const [, parent, child] = /^HASH subkey ([0-9a-f]{64}) .* = ([0-9a-f]{64})$/.exec(line) ?? [];
    if (parent !== undefined && child !== undefined) parents.set(child, parent);
  }
  const tested = new Set(actions.flatMap(({ what }) => /^build (.*)\.test$/.exec(what)?.[1] ?? []));
  const folders = new Map<string, string>();
  for (const { what, id } of actions) {
    // The package, its tests outside of it, and the program of both.
    const name = what.slice(what.indexOf(' ') + 1);
    const owner = [name, name.replace(/_test$/, ''), name.replace(/\.test$/, '')].find((one) => tested.has(one));
    folders.set(id, owner === undefined ? SHARED : layerOfPackage(owner));
  }
  for (const [child, parent] of parents) folders.set(child, folders.get(parent) ?? SHARED);
  return new Map([...Map.groupBy(folders, ([, folder]) => folder)].map(([folder, found]) => [folder, new Set(found.map(([id]) => id))]));
}

/** The entries of a cache that are no links to what was compiled before. */
async function builtIn(cache: string): Promise<number> {
  const entries = await readdir(cache, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile() && entry.name.endsWith('-a')).length;
}

async function keepUsed(keep: string, log: string): Promise<void> {
  const cache = path.join(keep, CACHE);
  await Promise.all([SHARED, PACKAGES].map((folder) => mkdir(path.join(keep, folder))));
  for (const [folder, ids] of usedEntries(log)) {
    for (const id of ids) {
      const action = path.join(id.slice(0, 2), `${id}-a`);
      // "v1", the action, its output, its size and the time.
      const output = /^v1 [0-9a-f]{64} ([0-9a-f]{64}) /.exec(await readFile(path.join(cache, action), 'latin1').catch(() => ''))?.[1];
      if (output === undefined) continue;
      for (const entry of [action, path.join(output.slice(0, 2), `${output}-d`)]) await keepEntry(path.join(cache, entry), path.join(keep, folder, entry));
    }
  }
  await Promise.all([cache, path.join(keep, HASHES)].map((entry) => rm(entry, { recursive: true, force: true })));
}

/** A further name of the file, without a copy of its contents where that can be: who reads a layer cannot write to it. */
async function keepEntry(from: string, to: string): Promise<void> {
  const file = await realpath(from).catch(() => undefined);
  if (file === undefined) return;
  await mkdir(path.dirname(to), { recursive: true });
  await link(file, to).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') await copyFile(file, to, constants.COPYFILE_FICLONE);
  });
}
