import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunSummary } from '../../../backend/protocol/methods.ts';
import type { BackendClient } from '../../../backend/protocol/client/backend-client.ts';
import { readRecord, type BackendRecord } from '../../../backend/protocol/client/discovery.ts';
import { openClient } from '../../../backend/protocol/client/open-client.ts';
import { stopBackend } from '../../../backend/protocol/client/start-backend.ts';
import type { SimulatedWorker } from '../../../backend/simulator/pool.ts';
import { writeSampleProject } from '../../../backend/simulator/sample-project.ts';
import { SimulatorServer } from '../../../backend/simulator/server.ts';
import type { HandsRule, WorkerRule } from '../../../backend/simulator/worker-model.ts';
import type { FlowBug } from './flat-project.ts';
import { FLAWLESS_WORKERS, writeSimulatedHome } from './simulated-home.ts';
import type { Settings, VsCodeServer } from './vscode-server.ts';
import { VsCode } from './vscode.ts';
import { VsCodeWindow, type WindowOptions } from './vscode-window.ts';
import { WorkflowPanel } from './workflow-panel.ts';

export const ARTIFACTS = path.join(import.meta.dirname, '..', 'artifacts', 'flows');
const repository = path.join(import.meta.dirname, '..', '..', '..');

/** The VSIX that `npm run package` makes on this machine. */
export function packedVsix(): string {
  const { version } = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8')) as { version: string };
  return path.join(repository, `conductor-${version}-${process.platform}-${process.arch}.vsix`);
}

/** The variable that names a folder in which the packed extension is installed already. */
export const INSTALLED_EXTENSIONS = 'CONDUCTOR_TEST_EXTENSIONS';

export interface WorkbenchOptions extends Pick<WindowOptions, 'width' | 'height' | 'scale' | 'extensions'> {
  /** Which bug of the simulator's the project has. */
  readonly seed?: number;
  /** Writes the project into a folder that does not exist yet; by default one of the simulator's. */
  readonly writeProject?: (folder: string) => Promise<FlowBug>;
  /** How the workers answer; by default they know the simulator's projects. */
  readonly rule?: WorkerRule;
  /** What the workers do with their hands; by default they have none. */
  readonly hands?: HandsRule;
  /** Multiplies how long the simulated workers take: 1 is lifelike, more leaves time to watch. */
  readonly latency?: number;
  /** Whether what the workers do counts in records, as that of real ones does; by default it does not. */
  readonly count?: boolean;
  /** Who answers; by default workers that never err. */
  readonly workers?: readonly SimulatedWorker[];
  /** The key that the simulated workers want; by default none. */
  readonly key?: string;
  /** False leaves Conductor without any worker, as on its first start. */
  readonly hasPool?: boolean;
  /** What is in Conductor's home before it starts, instead of the simulated workers. */
  readonly writeHome?: (home: string) => Promise<void>;
  /** Packed extensions that are installed beside Conductor, in a VS Code of its own. */
  readonly vsix?: readonly string[];
  /** True as on a user's desktop: a folder is restricted until the user trusts it. Default false. */
  readonly workspaceTrust?: boolean;
  readonly settings?: Settings;
  /** Added to the environment of VS Code and of the backend, which is one of its own then. */
  readonly environment?: Readonly<Record<string, string>>;
}

interface WorkbenchParts {
  readonly simulator: SimulatorServer;
  readonly vscode: VsCode;
  readonly window: VsCodeWindow;
  /** The open folder. */
  readonly project: string;
  readonly bug: FlowBug;
  /** What holds the project. */
  readonly folder: string;
}

/**
 * Everything a flow needs, as a user has it: a VS Code with the packed extension, open on a project with a bug, and simulated
 * workers behind a real server. Nothing that a flow does is seen by another one, or by the person whose machine it is.
 */
export class Workbench implements Omit<WorkbenchParts, 'folder' | 'vscode'> {
  readonly simulator: SimulatorServer;
  readonly server: VsCodeServer;
  readonly window: VsCodeWindow;
  readonly panel: WorkflowPanel;
  readonly project: string;
  readonly bug: WorkbenchParts['bug'];
  /** Conductor's home: workers, journal, discovery record. */
  readonly home: string;
  readonly #folder: string;
  readonly #vscode: VsCode;

  private constructor(parts: WorkbenchParts) {
    this.simulator = parts.simulator;
    this.server = parts.vscode.server;
    this.window = parts.window;
    this.panel = new WorkflowPanel(parts.window.webview());
    this.project = parts.project;
    this.bug = parts.bug;
    this.home = parts.vscode.home;
    this.#folder = parts.folder;
    this.#vscode = parts.vscode;
  }

  static async start(options: WorkbenchOptions = {}): Promise<Workbench> {
    const { seed = 1, latency = 1, workers = FLAWLESS_WORKERS, key, hasPool = true, writeHome } = options;
    const { writeProject = (empty) => writeSampleProject(empty, { seed }), rule, hands, count } = options;
    const vscode = await startVsCode(options);
    const { home } = vscode;
    const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'conductor-e2e-')));
    const project = path.join(folder, 'project');
    const bug = await writeProject(project);
    const simulator = await SimulatorServer.start({ seed, latency, workers, ...(key !== undefined && { key }), ...(rule && { rule }), ...(hands && { hands }) });
    if (writeHome) await writeHome(home);
    else if (hasPool) await writeSimulatedHome(home, simulator, { haveHands: hands !== undefined, count });
    const window = await VsCodeWindow.open(vscode.browser, vscode.server, project, options);
    // All windows of a browser have one clipboard.
    await window.page.evaluate(() => navigator.clipboard.writeText(''));
    return new Workbench({ simulator, vscode, window, project, bug, folder });
  }

  /** The question, from the palette to the moment it is sent. */
  async solve(question = this.bug.question, window = this.window): Promise<void> {
    await window.runCommand('Conductor: Solve');
    await window.answerInput('What do you want to know', question);
    await window.quickPickRow('Send the question').click();
  }

  /** Another window of the same VS Code, with a browser profile of its own, on a project of its own. The caller closes it. */
  async openSecondWindow({ seed }: { readonly seed: number }): Promise<{ window: VsCodeWindow; bug: WorkbenchParts['bug'] }> {
    const project = path.join(this.#folder, `project-${seed}`);
    const bug = await writeSampleProject(project, { seed });
    return { window: await VsCodeWindow.open(this.#vscode.browser, this.server, project), bug };
  }

  /** The backend's own record of itself. */
  async backend(): Promise<BackendRecord> {
    const record = await readRecord(this.home);
    if (!record) throw new Error(`No backend runs for ${this.home}.`);
    return record;
  }

  /** What the journal holds, asked of the backend past VS Code. */
  async runs(): Promise<readonly RunSummary[]> {
    return this.asOther(async (client) => (await client.request('run/list', {})).runs);
  }

  /** Asks the backend as another client than VS Code, such as the command line. */
  async asOther<T>(ask: (client: BackendClient) => Promise<T>): Promise<T> {
    const client = await openClient(await this.backend(), {
      client: { kind: 'test', version: '0.0.0' }, capabilities: [], workspaces: [], handlers: {},
    });
    try {
      return await ask(client);
    } finally {
      client.close();
    }
  }

  /** Leaves a screenshot, the page's console and all logs under `test/e2e/artifacts/flows`. */
  async keep(name: string): Promise<void> {
    const target = path.join(ARTIFACTS, name.replace(/[^\w-]+/g, '-'));
    await this.window.screenshot(path.join(target, 'window.png'));
    await writeFile(path.join(target, 'console.log'), this.window.console.join('\n'));
    await this.server.keepLogs(target);
  }

  async stop(): Promise<void> {
    await this.#vscode.closeWindows();
    await stopBackend(this.home);
    await this.#vscode.leave();
    await this.simulator.close();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** The VS Code of the flow before; another one outside the flows, and for wishes that only its start can fulfil. */
async function startVsCode({ workspaceTrust = false, settings, environment, vsix = [] }: WorkbenchOptions): Promise<VsCode> {
  const wanted = { 'security.workspace.trust.enabled': workspaceTrust, ...settings };
  const extensions = process.env[INSTALLED_EXTENSIONS];
  if (extensions === undefined) return VsCode.start({ vsix: [packedVsix(), ...vsix], settings: wanted, environment });
  if (environment || vsix.length > 0) return VsCode.start({ extensions, vsix, settings: wanted, environment });
  return VsCode.share({ extensions, settings: wanted });
}
