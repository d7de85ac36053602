import assert from 'node:assert/strict';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { writeSampleProject, type SampleProject } from '../../../backend/simulator/sample-project.ts';
import { SimulatorServer } from '../../../backend/simulator/server.ts';
import type { ConductorApi } from '../../../extension/extension.ts';
import { FLAWLESS_WORKERS, writeSimulatedHome } from '../harness/simulated-home.ts';

export const EXTENSION = 'conductor.conductor';
export const SEED = 1;

/** This window with the sample project in its folder, simulated workers, and a home of its own. */
export interface SampleWindow {
  readonly home: string;
  /** Absolute. */
  readonly project: string;
  readonly bug: SampleProject;
  readonly conductor: ConductorApi;
  close(): Promise<void>;
}

export async function openSampleWindow(): Promise<SampleWindow> {
  const simulator = await SimulatorServer.start({ seed: SEED, latency: 0, workers: FLAWLESS_WORKERS });
  const window = await openWindow((home) => writeSimulatedHome(home, simulator));
  const bug = await writeSampleProject(window.project, { seed: SEED });
  return {
    ...window, bug,
    close: async () => {
      await window.close();
      await simulator.close();
    },
  };
}

/** This window with a home of its own. @param writeHome puts the workers there */
export async function openWindow(writeHome: (home: string) => Promise<void>): Promise<Omit<SampleWindow, 'bug'>> {
  const home = await realpath(await mkdtemp(path.join(tmpdir(), 'conductor-home-')));
  // The extension reads it when it first needs the backend, in this very process.
  process.env.CONDUCTOR_HOME = home;
  await writeHome(home);
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  assert(folder, 'the suite runs with a folder open');
  const extension = vscode.extensions.getExtension<ConductorApi>(EXTENSION);
  assert(extension, `${EXTENSION} is loaded`);
  const conductor = await extension.activate();
  return {
    home, project: folder.uri.fsPath, conductor,
    close: async () => {
      // By the window's own command: it would bring a backend back that ended in any other way.
      await vscode.commands.executeCommand('conductor.stopBackend');
      // The backend has answered and may still be writing its last line.
      await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}
