import * as vscode from 'vscode';
import type { MultilineSetting } from './gap.ts';

export const SECTION = 'conductor.suggestions';

/** The settings for suggestions. Read on each use, so that a change takes effect with the next key. */
export interface SuggestSettings {
  readonly enabled: boolean;
  readonly worker: string | undefined;
  readonly maxUsdPerDay: number;
  readonly multiline: MultilineSetting;
  /** Whether other parts of the project may be sent, too. */
  readonly project: boolean;
  /** Whether suggestions are enabled for documents of this language. */
  readonly inLanguage: boolean;
}

/** @param document its language and folder may have their own settings */
export function readSuggestSettings(document?: vscode.TextDocument): SuggestSettings {
  const settings = vscode.workspace.getConfiguration(SECTION, document);
  const languages = settings.get<Record<string, boolean>>('languages', {});
  return {
    enabled: settings.get('enabled', false),
    worker: settings.get<string>('worker')?.trim() || undefined,
    maxUsdPerDay: settings.get('maxUsdPerDay', 1),
    multiline: settings.get<MultilineSetting>('multiline', 'auto'),
    project: settings.get('project', true),
    inLanguage: (document && languages[document.languageId]) ?? languages['*'] ?? true,
  };
}

/** Switches suggestions on or off in all windows. */
export async function setEnabled(enabled: boolean): Promise<void> {
  await vscode.workspace.getConfiguration(SECTION).update('enabled', enabled, vscode.ConfigurationTarget.Global);
}
