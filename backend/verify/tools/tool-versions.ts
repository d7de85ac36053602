import { homedir } from 'node:os';
import path from 'node:path';
import semver from 'semver';
import type { PersonPython } from '../../protocol/person-python.ts';
import type { ToolVersion } from '../../protocol/tool-version.ts';
import type { RunFolders } from '../files/run-folder.ts';
import { PROGRAMS_OF_ENVIRONMENT } from '../runners/base-python.ts';
import { findEnvironment, type PythonEnvironment } from '../runners/find-environment.ts';
import { ProjectFolder } from '../runners/project-folder.ts';
import { simpleCommands } from '../runners/shell-words.ts';
import { ReportError } from '../runners/test-report.ts';
import type { TestRunner } from '../runners/test-runner.ts';
import type { Sandbox, SandboxedCommand } from '../sandbox/sandbox.ts';
import type { AskedVersion } from './asked-version.ts';
import type { InstalledVersion } from './installed-versions.ts';
import { ownProgramsOf, toolsOf, type Tool, type UsedVersion } from './tools.ts';

/** What the tests run with. */
export interface ChosenTools extends UsedVersion {
  readonly versions: readonly ToolVersion[];
  /** What was asked for and not found: sentences. */
  readonly notes: readonly string[];
}

export const NO_TOOLS: ChosenTools = { programFolders: [], readable: [], environment: {}, versions: [], notes: [] };

export interface ToolsWanted {
  readonly runner: TestRunner;
  readonly command: string;
  /** The files that say what is asked for: those of the base, not of a patch. Absolute. */
  readonly base: string;
  /** Where dependencies are installed, absolute. */
  readonly installed: string;
  /** The Python environment that the person uses for the project, if that is known. */
  readonly python?: PersonPython | undefined;
  readonly sandboxed: boolean;
  readonly signal: AbortSignal;
}

/** A version that was asked of a program is believed for this long: a person may install another. */
const BELIEVED_MS = 60_000;
const PROBE_MS = 20_000;

/** Chooses among the installed versions of the project's tools the ones that it asks for, and says which run the tests. */
export class ToolVersions {
  readonly #sandbox: Pick<Sandbox, 'run'>;
  readonly #folders: RunFolders;
  readonly #asked = new Map<string, { readonly version: Promise<string | undefined>; readonly until: number }>();

  constructor({ sandbox, folders }: { readonly sandbox: Pick<Sandbox, 'run'>; readonly folders: RunFolders }) {
    this.#sandbox = sandbox;
    this.#folders = folders;
  }

  /** Throws SandboxUnavailableError or the signal's reason. */
  async choose(wanted: ToolsWanted): Promise<ChosenTools> {
    const { tools, onlyAsked } = toolsOf(wanted.runner.name);
    const chosen = await Promise.all(tools.map((tool) => this.#chooseOne(tool, wanted, onlyAsked)));
    return {
      programFolders: chosen.flatMap(({ programFolders }) => programFolders),
      readable: chosen.flatMap(({ readable }) => readable),
      environment: Object.assign({}, ...chosen.map(({ environment }) => environment)) as Record<string, string>,
      versions: chosen.flatMap(({ versions }) => versions),
      notes: chosen.flatMap(({ notes }) => notes),
    };
  }

  async #chooseOne(tool: Tool, wanted: ToolsWanted, onlyAsked: boolean): Promise<ChosenTools> {
    const folders = foldersOf(wanted);
    const asked = await firstAsked(tool, folders.map((folder) => path.join(wanted.base, folder)));
    if (asked === undefined && onlyAsked) return NO_TOOLS;
    const told = (version: string | undefined, isMet: boolean): ChosenTools['versions'] =>
      version === undefined ? [] : [{ name: tool.name, version, ...(asked && { asked: { by: asked.by, version: asked.version, isMet } }) }];

    // The runner itself puts an environment of the project first.
    const environment = tool.name === 'Python' ? await environmentOf(wanted, folders[0] ?? '') : undefined;
    if (environment === 'lost') return NO_TOOLS;
    if (environment) {
      const { folder, readable } = environment;
      const version = await this.#versionOf(tool, { programFolders: [path.join(folder, PROGRAMS_OF_ENVIRONMENT)], readable, environment: {} }, wanted);
      const of = path.relative(wanted.installed, folder).startsWith('..') ? folder : path.relative(wanted.installed, folder);
      return { ...NO_TOOLS, versions: told(version, isMet(version, asked)).map((one) => ({ ...one, of })) };
    }
    const own = await this.#versionOf(tool, NO_TOOLS, wanted);
    if (own !== undefined && asked === undefined) return { ...NO_TOOLS, versions: told(own, true) };
    const insisting = async (): Promise<Pick<ChosenTools, 'environment'>> => ({ environment: (await tool.insist?.(homedir())) ?? {} });
    if (own !== undefined && isMet(own, asked)) return { ...NO_TOOLS, ...(await insisting()), versions: told(own, true) };

    const found = choice(await this.#usable(tool, wanted), own, asked);
    const use = found && (await (tool.use ?? ownProgramsOf)(found.version));
    const version = use ? (found.version.version ?? (await this.#versionOf(tool, use, wanted))) : own;
    const notes = found?.isMet ? [] : [missing(tool, asked, version)];
    return { ...NO_TOOLS, ...(use ?? (await insisting())), versions: told(version, found?.isMet ?? false), notes };
  }

  async #usable({ installed, isUsable }: Tool, { runner }: ToolsWanted): Promise<readonly InstalledVersion[]> {
    const all = await installed(homedir());
    const usable = await Promise.all(all.map(async (version) => (await isUsable?.(version, runner.name)) ?? true));
    return all.filter((_, index) => usable[index]);
  }

  /** What a tool says of itself where the tests will run it. Undefined if it does not start there. */
  async #versionOf(tool: Tool, use: UsedVersion, { sandboxed, signal }: ToolsWanted): Promise<string | undefined> {
    const { programFolders, readable, environment } = use;
    const command = { command: tool.command, programFolders, readable, environment, sandboxed };
    const key = JSON.stringify(command);
    const known = this.#asked.get(key);
    if (known && known.until > performance.now()) return await known.version;
    const version = this.#ask({ ...command, timeoutMs: PROBE_MS, signal });
    const kept = { version, until: performance.now() + BELIEVED_MS };
    this.#asked.set(key, kept);
    version.catch(() => this.#asked.get(key) === kept && this.#asked.delete(key));
    return await version;
  }

  async #ask(command: Omit<SandboxedCommand, 'cwd' | 'temporary'>): Promise<string | undefined> {
    const folder = await this.#folders.create();
    try {
      const { exitCode, stdout } = await this.#sandbox.run({ ...command, cwd: folder.temporary, temporary: folder.temporary });
      return exitCode === 0 ? /\d+\.\d+(?:\.\d+)?[\w.+-]*/.exec(stdout)?.[0] : undefined;
    } finally {
      await folder.remove();
    }
  }
}

/** The folder in which the command runs, and those above it: relative to the workspace. */
function foldersOf({ command }: Pick<ToolsWanted, 'command'>): readonly string[] {
  const [first] = simpleCommands(command);
  const named = first?.words[0]?.text === 'cd' ? path.posix.normalize(first.words[1]?.text ?? '').replace(/\/$/, '') : '';
  const inside = named.startsWith('..') || path.isAbsolute(named) || named === '.' ? '' : named;
  const parts = inside === '' ? [] : inside.split('/');
  return [...parts.map((_, index) => parts.slice(0, parts.length - index).join('/')), ''];
}

async function firstAsked(tool: Tool, folders: readonly string[]): Promise<AskedVersion | undefined> {
  for (const folder of folders) {
    const asked = await tool.asked(new ProjectFolder(folder));
    if (asked) return asked;
  }
  return undefined;
}

async function environmentOf({ installed, python }: ToolsWanted, folder: string): Promise<PythonEnvironment | 'lost' | undefined> {
  try {
    return await findEnvironment({ inside: path.join(installed, folder), workspace: installed, environment: process.env, python });
  } catch (error) {
    // The runner says so when it is to use it.
    if (error instanceof ReportError) return 'lost';
    throw error;
  }
}

function isMet(version: string | undefined, asked: AskedVersion | undefined): boolean {
  const parsed = semver.coerce(version, { includePrerelease: true });
  return asked?.range !== undefined && parsed !== null && semver.satisfies(parsed, asked.range, { includePrerelease: true });
}

interface Choice {
  readonly version: InstalledVersion;
  readonly isMet: boolean;
}

/** The newest version that does what is asked for, or else one of the same major version, unless that of PATH is one. */
function choice(all: readonly InstalledVersion[], own: string | undefined, asked: AskedVersion | undefined): Choice | undefined {
  const named = asked && (all.find(({ name }) => name === asked.version) ?? all.find(({ name }) => isChannel(name, asked.version)));
  if (named) return { version: named, isMet: true };
  const newest = (range: string): InstalledVersion | undefined => {
    const best = semver.maxSatisfying(all.flatMap(({ version }) => version ?? []), range);
    return all.find(({ version }) => version !== undefined && version === best);
  };
  const met = asked?.range === undefined ? undefined : newest(asked.range);
  if (met) return { version: met, isMet: true };
  const major = asked?.range === undefined ? undefined : semver.minVersion(asked.range)?.major;
  const isNear = own !== undefined && (major === undefined || semver.coerce(own)?.major === major);
  if (isNear) return undefined;
  const near = (major === undefined ? undefined : newest(String(major))) ?? (own === undefined ? newest('*') : undefined);
  return near && { version: near, isMet: false };
}

/** `stable-x86_64-unknown-linux-gnu` of `stable`. What follows is no date: that would be another channel. */
const isChannel = (name: string, channel: string): boolean => name.startsWith(`${channel}-`) && /^[a-z]\w*-/.test(name.slice(channel.length + 1));

function missing({ name, lookedIn }: Tool, asked: AskedVersion | undefined, taken: string | undefined): string {
  const instead = taken === undefined ? `no other ${name} starts, either` : `${name} ${taken} was taken`;
  return asked === undefined
    ? `PATH has no ${name} that starts: ${lookedIn} were looked through, and ${instead}.`
    : `${asked.by} asks for ${name} ${asked.version}, which is neither on PATH nor among the versions of ${lookedIn}: ${instead}.`;
}
