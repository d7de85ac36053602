import semver from 'semver';
import * as z from 'zod';
import type { ProjectFolder } from '../runners/project-folder.ts';

/** The version of a tool that a file of the project asks for. */
export interface AskedVersion {
  /** As it is written: `20`, `lts/iron`, `>=18`, `stable`. */
  readonly version: string;
  /** The file, such as `.nvmrc`. */
  readonly by: string;
  /** What satisfies it, in npm's notation. Absent for names, such as that of a channel of Rust. */
  readonly range?: string;
}

type Asking = (folder: ProjectFolder) => Promise<AskedVersion | undefined>;

/** What the files say to version managers: asdf's and mise's table, in which a tool may have several names. */
const fromTables = async (folder: ProjectFolder, names: readonly string[], asked: (version: string, by: string) => AskedVersion | undefined): Promise<AskedVersion | undefined> => {
  const name = names.join('|');
  for (const [by, pattern] of [
    ['.tool-versions', new RegExp(`^(?:${name})[ \\t]+(\\S+)`, 'm')],
    ['mise.toml', new RegExp(`^\\s*(?:${name})\\s*=\\s*["']([^"']+)["']`, 'm')],
    ['.mise.toml', new RegExp(`^\\s*(?:${name})\\s*=\\s*["']([^"']+)["']`, 'm')],
  ] as const) {
    const version = pattern.exec((await folder.text(by)) ?? '')?.[1];
    const found = version === undefined ? undefined : asked(version, by);
    if (found) return found;
  }
  return undefined;
};

/** The first line that says something. */
const firstLine = (text: string | undefined): string | undefined =>
  text?.split('\n').map((line) => line.replace(/#.*/, '').trim()).find((line) => line !== '');

/** The major versions behind Node's names of releases with long support (https://github.com/nodejs/Release). */
const NODE_NAMES: Readonly<Record<string, number>> = {
  argon: 4, boron: 6, carbon: 8, dubnium: 10, erbium: 12, fermium: 14, gallium: 16, hydrogen: 18, iron: 20, jod: 22, krypton: 24,
};
/** Each even version has long support. */
const ANY_LTS = Array.from({ length: 50 }, (_, index) => String(4 + 2 * index)).join(' || ');

/** Longer ones are no versions. */
const MAX_CHARACTERS = 100;

function nodeVersion(version: string, by: string): AskedVersion | undefined {
  if (version.length > MAX_CHARACTERS) return undefined;
  const alias = /^lts[/-](.+)$/i.exec(version)?.[1]?.toLowerCase();
  const written = alias === '*' || version === 'lts' ? ANY_LTS
    : alias !== undefined ? String(NODE_NAMES[alias] ?? '')
      : /^(?:node|stable|current|latest)$/.test(version) ? '*' : version;
  const range = written === '' ? null : semver.validRange(written, { loose: true });
  return range === null ? undefined : { version, by, range };
}

const packageSchema = z.object({
  volta: z.object({ node: z.string() }).optional().catch(undefined),
  devEngines: z.object({ runtime: z.unknown() }).optional().catch(undefined),
  engines: z.object({ node: z.string() }).optional().catch(undefined),
});
const runtimeSchema = z.object({ name: z.literal('node'), version: z.string() });

async function inPackage(folder: ProjectFolder): Promise<AskedVersion | undefined> {
  try {
    const { volta, devEngines, engines } = packageSchema.parse(JSON.parse((await folder.text('package.json')) ?? ''));
    const runtime = [devEngines?.runtime].flat().map((one) => runtimeSchema.safeParse(one).data).find((one) => one !== undefined);
    const version = volta?.node ?? runtime?.version ?? engines?.node;
    return version === undefined ? undefined : nodeVersion(version, 'package.json');
  } catch {
    return undefined;
  }
}

export const askedNode: Asking = async (folder) => {
  for (const by of ['.nvmrc', '.node-version']) {
    const version = firstLine(await folder.text(by));
    const found = version === undefined ? undefined : nodeVersion(version, by);
    if (found) return found;
  }
  return (await fromTables(folder, ['nodejs', 'node'], nodeVersion)) ?? (await inPackage(folder));
};

function pythonVersion(version: string, by: string): AskedVersion | undefined {
  if (version === 'system' || !/^\w[\w.+-]*$/.test(version) || version.length > MAX_CHARACTERS) return undefined;
  // pyenv also takes the name of one of its environments.
  return /^\d+(?:\.\d+){0,2}$/.test(version) ? { version, by, range: version } : { version, by };
}

export const askedPython: Asking = async (folder) => {
  const version = firstLine(await folder.text('.python-version'));
  return (version === undefined ? undefined : pythonVersion(version, '.python-version')) ?? (await fromTables(folder, ['python'], pythonVersion));
};

/** `go` in go.mod is the least version, and `toolchain` the one that is wanted if it is newer than Go's own (https://go.dev/doc/toolchain). */
export const askedGo: Asking = async (folder) => {
  const text = ((await folder.text('go.mod')) ?? '').replaceAll(/\/\/.*/g, '');
  const version = /^toolchain\s+go(\d\S*)/m.exec(text)?.[1] ?? /^go\s+(\d\S*)/m.exec(text)?.[1];
  const least = semver.coerce(version);
  return version === undefined || least === null ? undefined : { version, by: 'go.mod', range: `>=${least.version}` };
};

/** rustup takes both names, and the text alone or a table (https://rust-lang.github.io/rustup/overrides.html). */
export const askedRust: Asking = async (folder) => {
  for (const by of ['rust-toolchain', 'rust-toolchain.toml']) {
    const text = await folder.text(by);
    const version = /^\s*channel\s*=\s*["']([^"']+)["']/m.exec(text ?? '')?.[1] ?? (/^\s*\[/m.test(text ?? '') ? undefined : firstLine(text));
    if (version === undefined || !/^\w[\w.-]*$/.test(version) || version.length > MAX_CHARACTERS) continue;
    return /^\d+(?:\.\d+){0,2}$/.test(version) ? { version, by, range: version } : { version, by };
  }
  return undefined;
};
