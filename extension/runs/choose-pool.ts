import * as vscode from 'vscode';
import { isBundled } from '../../backend/protocol/bundled-conductor.ts';
import type { Pool, WorkerStatus } from '../../backend/protocol/methods.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { NextStepError, noWorkerYet } from '../common/next-step.ts';
import { plainLabel } from '../common/plain-message.ts';

/** Ids of the participating workers. */
export interface ChosenPool {
  readonly workers: string[];
  readonly conductor: string;
}

type Item = vscode.QuickPickItem & { readonly id: string };

/**
 * Asks for the workers that answer and the model that plans in a new run of the same question. The workers of the run are preselected.
 * @returns undefined if the user cancels
 * @throws an error with a sentence if there is no worker, or none was picked
 */
export async function choosePool({ pool: before, policy }: Pick<RunSnapshot, 'pool' | 'policy'>, pool: Pool): Promise<ChosenPool | undefined> {
  if (pool.workers.length === 0) throw noWorkerYet();
  const title = vscode.l10n.t('Conductor: Run with Other Workers');
  const took = new Set(before.map(({ id }) => id));
  // The workers of an old run may no longer exist.
  const isPicked = pool.workers.some(({ worker }) => took.has(worker.id))
    ? ({ worker }: WorkerStatus) => took.has(worker.id)
    : ({ worker, ready }: WorkerStatus) => worker.enabled && ready;
  const workers = await vscode.window.showQuickPick(pool.workers.map((status): Item => ({ ...workerItem(status), picked: isPicked(status) })), {
    title, placeHolder: vscode.l10n.t('Which workers answer this time?'), canPickMany: true, ignoreFocusOut: true,
  });
  if (!workers) return undefined;
  if (workers.length === 0) throw new NextStepError(vscode.l10n.t('Pick at least one worker.'));
  const conductor = await vscode.window.showQuickPick(plannerItems(pool, policy.worker?.id), {
    title, placeHolder: vscode.l10n.t('Which model should write the plans?'), ignoreFocusOut: true,
  });
  return conductor && { workers: workers.map(({ id }) => id), conductor: conductor.id };
}

function workerItem({ worker, ready, reason }: WorkerStatus): Item {
  return {
    id: worker.id, label: worker.id,
    ...(worker.model !== worker.id && { description: plainLabel(worker.model) }),
    ...(!ready && reason !== undefined && { detail: plainLabel(reason) }),
  };
}

/** The run's previous Conductor comes first, so that Enter keeps it. */
function plannerItems({ workers, bundledConductor }: Pool, before: string | undefined): Item[] {
  const bundled: Item[] = bundledConductor
    ? [{ id: bundledConductor.id, label: bundledConductor.id, description: vscode.l10n.t('part of Conductor, on this machine') }]
    : [];
  // A model with an adapter is also listed among the workers.
  const items = [...bundled, ...workers.filter(({ worker }) => !isBundled(worker, bundledConductor)).map(workerItem)];
  const planned = items.filter(({ id }) => id === before).map((item) => ({ ...item, detail: vscode.l10n.t('planned the run before') }));
  return [...planned, ...items.filter(({ id }) => id !== before)];
}
