import * as vscode from 'vscode';
import type { BackendConnection } from '../common/backend-connection.ts';
import { plainMessage } from '../common/plain-message.ts';
import type { PoolStore } from './pool-store.ts';

export interface SimulateOptions {
  readonly connection: Pick<BackendConnection, 'request'>;
  readonly poolStore: Pick<PoolStore, 'refresh'>;
}

/** Starts simulated workers in place of the pool, or ends them. They also end with this window. */
export async function simulate({ connection, poolStore }: SimulateOptions): Promise<void> {
  const { simulation: running } = await connection.request('simulation/get', {});
  if (running) {
    const end = vscode.l10n.t('End Simulation');
    const detail = vscode.l10n.t('Then your own workers answer again. What was adopted from the simulation is taken back.');
    if ((await vscode.window.showInformationMessage(vscode.l10n.t('Simulated workers answer now.'), { modal: true, detail }, end)) === end) {
      await connection.request('simulation/end', {});
    }
    return;
  }
  const { workers } = await poolStore.refresh();
  const real = workers.filter(({ worker }) => worker.enabled && !worker.simulated).map(({ worker }) => worker.id);
  const beside = await howToBegin(real);
  if (beside === undefined) return;
  const { folder } = await connection.request('simulation/begin', { tasks: [], seed: 1, beside });
  await offerFolder(folder);
}

/** @returns whether the person's own workers answer, too; undefined if nothing is to begin */
async function howToBegin(real: readonly string[]): Promise<boolean | undefined> {
  const start = vscode.l10n.t('Start Simulation');
  const both = vscode.l10n.t('Start Beside My Workers');
  const detail = [
    vscode.l10n.t('The workers have made-up skills, cost nothing, and know tasks of a practice folder only. What they say shows nothing about real models. They end when this window closes, or when you run the same command again.'),
    ...(real.length > 0 ? [vscode.l10n.t('Meanwhile nothing is sent to {0}, unless you start the simulation beside them.', real.join(', '))] : []),
  ].join('\n\n');
  const chosen = await vscode.window.showInformationMessage(
    vscode.l10n.t('Let simulated workers answer?'), { modal: true, detail: plainMessage(detail) }, ...(real.length > 0 ? [start, both] : [start]),
  );
  return chosen === undefined ? undefined : chosen === both;
}

/** Opens in a window of its own: the simulation ends with this one. */
async function offerFolder(folder: string): Promise<void> {
  const open = vscode.l10n.t('Open Practice Folder');
  const text = vscode.l10n.t('Simulated workers answer now, until this window closes. The practice folder has tasks to train on: open it and choose {0}.', vscode.l10n.t('Conductor: Fine-tune on Project Tests'));
  if ((await vscode.window.showInformationMessage(plainMessage(text), open)) !== open) return;
  await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(folder), { forceNewWindow: true });
}
