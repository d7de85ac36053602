import * as vscode from 'vscode';
import { workerConfigSchema, type WorkerConfig } from '../backend/protocol/worker-config.ts';
import type { BackendConnection } from './backend-connection.ts';
import type { KeyStore } from './keys.ts';
import { modelName } from './language-models.ts';
import type { PanelStateSource } from './panel-state.ts';
import { fieldProblem, suggestId, WORKER_PRESETS, type WorkerPreset } from './worker-presets.ts';

interface AddWorkerOptions {
  readonly connection: BackendConnection;
  readonly keys: KeyStore;
  readonly panel: PanelStateSource;
  /** Has a model of this machine play the Conductor and answer, instead of a worker elsewhere. */
  readonly chooseModel: () => Promise<string | undefined>;
}

/** `Conductor: Add Worker`: asks for what is needed, makes one real call, and saves what answered. */
export class AddWorkerCommand {
  readonly #options: AddWorkerOptions;

  constructor(options: AddWorkerOptions) {
    this.#options = options;
  }

  /** @returns the saved worker's id; undefined when nothing was saved. */
  async run(): Promise<string | undefined> {
    const { connection, keys, panel } = this.#options;
    const pool = await connection.request('pool/get', {});
    const preset = await pickPreset();
    if (preset === 'this-machine') return this.#options.chooseModel();
    const described = preset && (await this.#describe(preset, pool.workers.map((status) => status.worker.id)));
    if (!described) return undefined;
    const { worker, keyValue } = described;

    // The backend asks for the key by its name when it tries the worker, so it is stored before that and taken back if
    // nothing comes of it.
    const keyBefore = worker.key === undefined ? undefined : await keys.get(worker.key);
    if (worker.key !== undefined && keyValue !== undefined) await keys.set(worker.key, keyValue);
    if (!(await this.#answersOrIsWanted(worker))) {
      if (worker.key !== undefined) await restore(keys, worker.key, keyBefore);
      return undefined;
    }
    const conductor = pool.conductor === undefined && pool.bundledConductor === undefined;
    panel.setPool(await connection.request('worker/save', { worker, conductor }));
    void vscode.window.showInformationMessage(conductor
      ? vscode.l10n.t('Added the worker "{0}". Its model also plays the Conductor.', worker.id)
      : vscode.l10n.t('Added the worker "{0}".', worker.id));
    return worker.id;
  }

  /** Asks for a worker, one thing at a time. @returns undefined when the person presses Escape. */
  async #describe(
    preset: WorkerPreset, taken: readonly string[],
  ): Promise<{ worker: WorkerConfig; keyValue: string | undefined } | undefined> {
    const { provider } = preset;
    const compatible = provider === 'openai-compatible';
    const model = provider === 'vscode' ? await pickLanguageModel() : await askField('model', {
      prompt: vscode.l10n.t('The provider’s name of the model'), placeHolder: preset.example,
    });
    if (!model) return undefined;
    const baseUrl = compatible ? await askField('baseUrl', {
      prompt: vscode.l10n.t('Address of the server, up to where "/chat/completions" is added'),
      value: preset.baseUrl ?? '',
    }) : '';
    if (baseUrl === undefined) return undefined;
    const key = provider === 'vscode' ? '' : await askField('key', {
      prompt: vscode.l10n.t('Name of the key, which is also its environment variable for the command line; empty: no key'),
      value: preset.key ?? '',
      optional: compatible,
    });
    if (key === undefined) return undefined;
    const keyValue = key === '' ? '' : await askKeyValue(key, { keepable: (await this.#options.keys.get(key)) !== undefined });
    if (keyValue === undefined) return undefined;
    const id = await askField('id', {
      prompt: vscode.l10n.t('A short name for the worker; an existing name replaces that worker'), value: suggestId(model, taken),
    });
    if (id === undefined) return undefined;
    const description = await askField('description', {
      prompt: vscode.l10n.t('What is it good at? The Conductor is told this and not the name. Leave empty if you do not know.'),
      optional: true,
    });
    if (description === undefined) return undefined;
    const worker = workerConfigSchema.parse({
      id, provider, model, ...(baseUrl && { baseUrl }), ...(key && { key }), ...(description && { description }),
    });
    return { worker, keyValue: keyValue || undefined };
  }

  /** Tries the worker until it answers, or the person saves it anyway or gives up. */
  async #answersOrIsWanted(worker: WorkerConfig): Promise<boolean> {
    const { keys } = this.#options;
    const tryAgain = vscode.l10n.t('Try Again');
    const otherKey = vscode.l10n.t('Enter Another Key');
    const saveAnyway = vscode.l10n.t('Save Anyway');
    for (;;) {
      const problem = await this.#problemOf(worker);
      if (problem === undefined) return true;
      const choices = [tryAgain, ...(worker.key === undefined ? [] : [otherKey]), saveAnyway];
      const title = vscode.l10n.t('The worker "{0}" did not answer.', worker.id);
      const chosen = await vscode.window.showWarningMessage(title, { modal: true, detail: problem }, ...choices);
      if (chosen === undefined) return false;
      if (chosen === saveAnyway) return true;
      if (chosen === otherKey && worker.key !== undefined) {
        const value = await askKeyValue(worker.key, { keepable: false });
        if (value !== undefined) await keys.set(worker.key, value);
      }
    }
  }

  /** One small real call. @returns why it did not work, in one sentence. */
  async #problemOf(worker: WorkerConfig): Promise<string | undefined> {
    const title = vscode.l10n.t('Conductor: trying "{0}"', worker.id);
    const progress = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    return vscode.window.withProgress(progress, async (_, token) => {
      const cancelled = new AbortController();
      token.onCancellationRequested(() => cancelled.abort());
      try {
        const { ok, message } = await this.#options.connection.request('worker/try', { worker }, cancelled.signal);
        return ok ? undefined : message;
      } catch (error) {
        if (cancelled.signal.aborted) return vscode.l10n.t('The try was cancelled.');
        throw error;
      }
    });
  }
}

async function pickPreset(): Promise<WorkerPreset | 'this-machine' | undefined> {
  const items = [
    ...WORKER_PRESETS.map((preset) => ({ preset, label: preset.label, description: preset.baseUrl ?? '' })),
    {
      preset: { label: 'VS Code', provider: 'vscode', example: '' } as const,
      label: vscode.l10n.t('VS Code’s own models'),
      description: vscode.l10n.t('of Copilot or another extension; needs no key'),
    },
    {
      preset: 'this-machine' as const,
      label: vscode.l10n.t('A model on this machine'),
      description: vscode.l10n.t('is downloaded once; needs no key, and no network afterwards'),
    },
  ];
  const picked = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Conductor: Add Worker'), placeHolder: vscode.l10n.t('Who serves the model?'), ignoreFocusOut: true,
  });
  return picked?.preset;
}

async function pickLanguageModel(): Promise<string | undefined> {
  const models = await vscode.lm.selectChatModels({});
  if (models.length === 0) {
    throw new Error(vscode.l10n.t('VS Code offers no language model: install or sign in to an extension that brings some.'));
  }
  const items = models.map((model) => ({ label: model.name, description: modelName(model) }));
  const picked = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Conductor: Add Worker'), placeHolder: vscode.l10n.t('Which model?'), ignoreFocusOut: true,
  });
  return picked?.description;
}

async function askField(
  field: Parameters<typeof fieldProblem>[0],
  { prompt, value, placeHolder, optional = false }: { prompt: string; value?: string; placeHolder?: string; optional?: boolean },
): Promise<string | undefined> {
  const text = await vscode.window.showInputBox({
    title: vscode.l10n.t('Conductor: Add Worker'),
    prompt,
    ignoreFocusOut: true,
    ...(value !== undefined && { value }),
    ...(placeHolder !== undefined && { placeHolder }),
    validateInput: (typed) => (optional && typed.trim() === '' ? undefined : fieldProblem(field, typed.trim())),
  });
  return text?.trim();
}

/** @returns the key, an empty text to keep the stored one, or undefined when the person presses Escape. */
export async function askKeyValue(name: string, { keepable }: { keepable: boolean }): Promise<string | undefined> {
  const value = await vscode.window.showInputBox({
    title: vscode.l10n.t('Conductor: Set Key'),
    prompt: keepable
      ? vscode.l10n.t('Value of {0}; leave empty to keep the stored one. It is stored in VS Code’s secret storage.', name)
      : vscode.l10n.t('Value of {0}. It is stored in VS Code’s secret storage.', name),
    password: true,
    ignoreFocusOut: true,
    validateInput: (typed) => (typed.trim() === '' && !keepable ? vscode.l10n.t('Paste the key.') : undefined),
  });
  return value?.trim();
}

async function restore(keys: KeyStore, name: string, before: string | undefined): Promise<void> {
  if (before === undefined) await keys.remove(name);
  else await keys.set(name, before);
}
