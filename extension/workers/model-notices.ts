import * as vscode from 'vscode';
import type { LocalModelStatus } from '../../backend/protocol/local-models.ts';
import { modelTitle } from './local-models-of.ts';
import { phaseText } from './model-phase.ts';
import type { ModelStates } from './model-states.ts';
import { plainMessage } from '../common/plain-message.ts';

export interface ModelNoticesOptions {
  readonly models: ModelStates;
  /** Whether this window is waiting for a model. */
  readonly isWaitedFor: () => boolean;
  readonly unload: (model: string) => Promise<void>;
  /** Messages that were already shown in any window. */
  readonly memory: Pick<vscode.Memento, 'get' | 'update'>;
  readonly report: (error: unknown) => void;
}

/** A model that loads faster than this needs no notification. */
const SHOW_AFTER_MS = 1_000;
const SEEN_KEY = 'conductor.seenDeviceReasons';
const MAX_SEEN = 50;

/** Notifies about loading models: shows progress with a Cancel button, and explains once why a better device is not used. */
export class ModelNotices {
  readonly #options: ModelNoticesOptions;
  readonly #loading = new Map<string, { readonly update: (status: LocalModelStatus) => void }>();

  constructor(options: ModelNoticesOptions) {
    this.#options = options;
    options.models.changed.on((status) => this.#take(status));
  }

  #take(status: LocalModelStatus): void {
    const { isWaitedFor, report } = this.#options;
    this.#loading.get(status.model)?.update(status);
    if (!isWaitedFor()) return;
    if (status.state === 'loading' && !this.#loading.has(status.model)) this.#follow(status).catch(report);
    if (status.state === 'ready') this.#explain(status).catch(report);
  }

  async #follow(first: LocalModelStatus): Promise<void> {
    const { model } = first;
    const ended = Promise.withResolvers<void>();
    let latest = first;
    let show = (_status: LocalModelStatus): void => {};
    this.#loading.set(model, {
      update: (status) => {
        latest = status;
        if (status.state === 'loading') show(status);
        else ended.resolve();
      },
    });
    try {
      const isQuick = await Promise.race([ended.promise.then(() => true), delay(SHOW_AFTER_MS).then(() => false)]);
      if (isQuick) return;
      const title = vscode.l10n.t('Conductor: loading {0}', modelTitle(model));
      const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
      await vscode.window.withProgress(options, async (progress, token) => {
        token.onCancellationRequested(() => this.#options.unload(model).catch(this.#options.report));
        show = (status) => progress.report({ message: phaseText(status) });
        show(latest);
        await ended.promise;
      });
    } finally {
      this.#loading.delete(model);
    }
  }

  async #explain({ model, loaded }: LocalModelStatus): Promise<void> {
    const { memory } = this.#options;
    const seen = memory.get<string[]>(SEEN_KEY, []);
    const news = (loaded?.reasons ?? []).filter((reason) => !seen.includes(reason));
    if (news.length === 0) return;
    await memory.update(SEEN_KEY, [...seen, ...news].slice(-MAX_SEEN));
    for (const reason of news) void vscode.window.showInformationMessage(plainMessage(`${modelTitle(model)}: ${reason}`));
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => { setTimeout(resolve, ms); });
}
