import { execFile } from 'node:child_process';
import { mkdir, readFile, realpath, rm, rmdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { programIn } from '../common/program-in.ts';
import { replaceFile } from '../common/replace-file.ts';
import { prepareHome } from '../protocol/client/discovery.ts';
import { readArguments } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { folderAt } from './folder-at.ts';
import { AGENTS, type Placement, type Program } from './install/agents.ts';
import { changeText } from './install/change-text.ts';
import { InstalledFiles } from './install/installed-files.ts';
import { withoutPlaced, withPlaced } from './install/place.ts';
import { printable } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = {
  workspace: { type: 'string', short: 'w' }, user: { type: 'boolean' }, 'dry-run': { type: 'boolean' }, yes: { type: 'boolean', short: 'y' },
} as const;

/** One file before and after. */
interface Change {
  readonly file: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Of a new file. */
  readonly mode?: number | undefined;
}

/** `conductor install AGENT`: sets up the gate and Conductor's tools in the files that an agent reads. */
export const installCommand: Command = async (args, context) => await carryOut('install', args, context);

/** `conductor uninstall AGENT`: takes that back. */
export const uninstallCommand: Command = async (args, context) => await carryOut('uninstall', args, context);

async function carryOut(action: 'install' | 'uninstall', args: readonly string[], context: CommandContext): Promise<number> {
  const { values, positionals: [name, ...others] } = readArguments(args, OPTIONS);
  const agent = AGENTS.find((one) => one.name === name);
  if (!agent || others.length > 0) throw new UsageError(`"${action}" takes one agent, or git: ${AGENTS.map((one) => one.name).join(', ')}.`);
  const { terminal, currentFolder, conductorFolder: home, environment, interrupted } = context;
  const workspace = await folderAt(path.resolve(currentFolder, values.workspace ?? '.'));
  const placements = agent.placements({ workspace, home: environment['HOME'] ?? homedir(), isForUser: values.user === true, hooks: await hooksOf(workspace, interrupted), environment }, await programOf(environment));
  const installed = new InstalledFiles(home);
  if (placements.length === 0) throw new UsageError(`There is no Git repository at ${workspace}.`);
  const changes = action === 'install' ? await toInstall(placements, installed) : await toUninstall(placements, installed);
  if (changes.length === 0) {
    terminal.say(action === 'install' ? `Nothing to do: ${name} has Conductor already.` : `Nothing to do: ${name} has nothing of Conductor here.`);
    return EXIT.ok;
  }
  for (const { file, before, after } of changes) terminal.result(printable(changeText(file, before, after)));
  if (values['dry-run']) return EXIT.ok;
  if (!values.yes) {
    if (!terminal.ask) throw new UsageError('Nobody can be asked here: nothing was changed. --yes makes this change.');
    if (!(await terminal.ask(`${action === 'install' ? 'Write' : 'Take back'} this?`, interrupted))) {
      terminal.say('Nothing was changed.');
      return EXIT.failed;
    }
  }
  await prepareHome(home);
  // In reverse, since the folder of several files was made for the first of them.
  for (const change of action === 'install' ? changes : changes.toReversed()) await write(change, action, installed);
  terminal.say(action === 'install' ? `Done. ${agent.then} Take it back with: conductor uninstall ${name}${values.user ? ' --user' : ''}` : 'Done.');
  return EXIT.ok;
}

/** @throws UsageError before anything is written */
async function toInstall(placements: readonly Placement[], installed: InstalledFiles): Promise<Change[]> {
  const changes: Change[] = [];
  for (const [file, placed] of Map.groupBy(placements, (one) => one.file)) {
    const before = await textOf(file);
    const whole = placed.find((one) => one.kind === 'whole');
    // One that an earlier version wrote is written again.
    const isForeign = whole && before !== null && before !== whole.text && (await installed.get(file))?.after !== before;
    if (isForeign) throw new UsageError(`${file} is there already, with another text; nothing was changed. Conductor's text is:\n${whole.text}`);
    const after = placed.reduce<string | null>(withPlaced, before);
    if (after !== before) changes.push({ file, before, after, ...(whole && { mode: whole.mode }) });
  }
  return changes;
}

async function toUninstall(placements: readonly Placement[], installed: InstalledFiles): Promise<Change[]> {
  const changes: Change[] = [];
  for (const [file, placed] of Map.groupBy(placements, (one) => one.file)) {
    const now = await textOf(file);
    if (now === null) continue;
    const record = await installed.get(file);
    // Where it was installed again over a text that was changed, that text has what was written for an earlier program.
    const isAsLeft = record !== undefined && record.after === now;
    const isOwn = record?.before === null;
    const after = placed.reduceRight<string | null>((text, one) => (text === null ? null : withoutPlaced(text, one, { isOwn })), isAsLeft ? record.before : now);
    if (after !== now) changes.push({ file, before: now, after });
  }
  return changes;
}

/** What was before is on disk before the file is another one. */
async function write({ file, before, after, mode = 0o644 }: Change, action: 'install' | 'uninstall', installed: InstalledFiles): Promise<void> {
  const record = await installed.get(file);
  if (action === 'install') {
    const folder = (await mkdir(path.dirname(file), { recursive: true })) ?? record?.folder;
    // Installed again over what a person changed since: what was there in the beginning is no longer known.
    await installed.set(file, { before: record && record.after === before ? record.before : before, after: after ?? '', ...(folder !== undefined && { folder }) });
  }
  if (after === null) {
    await rm(file, { force: true });
    await removeEmpty(path.dirname(file), record?.folder);
  } else {
    const target = await realpath(file).catch(() => file);
    await replaceFile(target, after, { mode: await stat(target).then((found) => found.mode & 0o777, () => mode) });
  }
  if (action === 'uninstall') await installed.set(file, undefined);
}

/** Removes the folders that were made for a file, from the lowest up to the topmost, as long as they are empty. */
async function removeEmpty(lowest: string, topmost: string | undefined): Promise<void> {
  if (topmost === undefined) return;
  for (let folder = lowest; folder === topmost || folder.startsWith(`${topmost}${path.sep}`); folder = path.dirname(folder)) {
    if (!(await rmdir(folder).then(() => true, () => false))) return;
  }
}

async function textOf(file: string): Promise<string | null> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new UsageError(`${file} cannot be read as text; nothing was changed.`, { cause: error });
  }
}

/** Where Git looks for hooks, by its own settings: `runGit` would take none. Nothing of the repository is run by that question. */
async function hooksOf(workspace: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('git', ['rev-parse', '--git-path', 'hooks'], { cwd: workspace, signal });
    return path.resolve(workspace, stdout.trim());
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** `conductor`, if a shell finds it; otherwise this very program. */
async function programOf({ PATH = '' }: CommandContext['environment']): Promise<Program> {
  if ((await programIn('conductor', PATH)) !== undefined) return ['conductor'];
  return [process.execPath, path.resolve(process.argv[1] ?? '')];
}
