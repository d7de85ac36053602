import * as vscode from 'vscode';
import type { ReviewPlan } from '../../backend/protocol/run-request.ts';

/** The extension's settings. Read on each use, so that a change takes effect on the next use. */
export interface Settings {
  /** Path of another Node for the backend; undefined: the one that runs VS Code's extensions. */
  readonly nodePath: string | undefined;
  /** Folder of `workers.json` and the journal; undefined: the backend's default. */
  readonly home: string | undefined;
  readonly rounds: number;
  /** Whether a worker that costs nothing tries first. */
  readonly localFirst: boolean;
  readonly offerLearning: boolean;
  readonly confirmContext: boolean;
  /** Which plans wait for the user before their workers are paid; undefined: none. */
  readonly reviewPlan: ReviewPlan | undefined;
}

/** @param folder its folder settings apply, if there are any. */
export function readSettings(folder?: vscode.Uri): Settings {
  const settings = vscode.workspace.getConfiguration('conductor', folder);
  const text = (key: string): string | undefined => settings.get<string | null>(key)?.trim() || undefined;
  return {
    nodePath: text('nodePath'),
    home: text('home'),
    rounds: settings.get('rounds', 2),
    localFirst: settings.get('localFirst', false),
    offerLearning: settings.get('offerLearning', true),
    confirmContext: settings.get('confirmContext', true),
    reviewPlan: reviewPlanOf(settings.get<string>('reviewPlan'), settings.get<number>('reviewPlanAboveUsd')),
  };
}

/** Lets a worker that costs nothing try first, or not: in the workspace if that has a setting of its own, otherwise everywhere. */
export async function setLocalFirst(on: boolean): Promise<void> {
  const settings = vscode.workspace.getConfiguration('conductor');
  const isOfWorkspace = settings.inspect('localFirst')?.workspaceValue !== undefined;
  await settings.update('localFirst', on, isOfWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global);
}

/** An amount that is none counts as zero: then every plan that may cost something waits. */
function reviewPlanOf(when: string | undefined, aboveUsd = 0): ReviewPlan | undefined {
  if (when === 'always') return 'always';
  return when === 'aboveAmount' ? { aboveUsd: Number.isFinite(aboveUsd) ? Math.max(0, aboveUsd) : 0 } : undefined;
}
