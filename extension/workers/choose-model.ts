import * as vscode from 'vscode';
import { formatBytes } from '../../backend/protocol/figures.ts';
import type { LoadedModelView, LocalModelsView, OfferedModel } from '../../backend/protocol/local-models.ts';
import { RequestError } from '../../backend/protocol/request-error.ts';
import { askKeyValue } from './ask-key-value.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { modelTitle } from './local-models-of.ts';
import type { PoolStore } from './pool-store.ts';
import { withProgressNotice } from '../common/progress-notice.ts';

export interface ChooseModelOptions {
  readonly connection: BackendConnection;
  readonly poolStore: Pick<PoolStore, 'set'>;
}

/** The source of the selected model. */
type Choice =
  | { readonly from: 'machine'; readonly model: string }
  | { readonly from: 'hub'; readonly repo: string }
  | { readonly from: 'other-hub' }
  | { readonly from: 'folder' };

type Item = vscode.QuickPickItem & { readonly choice?: Choice };

/** `owner/name` on the hub, or only a name. */
const REPO = /^[\w.-]{1,96}(\/[\w.-]{1,96})?$/;
/** The name that the hub's own library and the command line use. */
const TOKEN_NAME = 'HF_TOKEN';
/** Kinds of errors that an access token may solve. */
const WANTS_TOKEN = new Set(['unauthorized', 'gated']);

/** `Conductor: Choose Conductor Model`: makes a local model the Conductor, after downloading it if necessary. */
export class ChooseModelCommand {
  readonly #options: ChooseModelOptions;
  #underWay = 0;

  constructor(options: ChooseModelOptions) {
    this.#options = options;
  }

  /** Whether a chosen model is being downloaded or loaded. */
  get isUnderWay(): boolean {
    return this.#underWay > 0;
  }

  /** @param argument the folder or name of a local model; skips the prompts. @returns the chosen model */
  async run(argument?: unknown): Promise<string | undefined> {
    this.#underWay += 1;
    try {
      return await this.#run(typeof argument === 'string' ? argument : undefined);
    } finally {
      this.#underWay -= 1;
    }
  }

  async #run(given: string | undefined): Promise<string | undefined> {
    const { connection, poolStore } = this.#options;
    const model = given ?? (await this.#pick());
    if (model === undefined) return undefined;
    const worker = given === undefined ? await this.#askWhetherItAnswers(model) : true;
    if (worker === undefined) return undefined;
    poolStore.set(await connection.request('model/choose', { model, worker }));
    const loaded = await this.#load(model);
    if (!loaded) return model;
    const { device, weightBytes } = loaded;
    const name = modelTitle(model);
    void vscode.window.showInformationMessage(device !== 'cpu'
      ? vscode.l10n.t('{0} plays the Conductor now. It runs on the GPU and takes {1}.', name, formatBytes(weightBytes))
      : vscode.l10n.t('{0} plays the Conductor now. It runs on the CPU and takes {1}.', name, formatBytes(weightBytes)));
    return model;
  }

  /** @returns undefined if the user cancelled the loading. This needs no message: the next question loads it again. */
  async #load(model: string): Promise<LoadedModelView | undefined> {
    try {
      return (await this.#options.connection.request('model/load', { model })).loaded;
    } catch (error) {
      if (error instanceof RequestError && error.kind === 'model-unloaded') return undefined;
      throw error;
    }
  }

  async #pick(): Promise<string | undefined> {
    const models = await this.#options.connection.request('models/list', {});
    const picked = await vscode.window.showQuickPick(itemsOf(models), {
      title: vscode.l10n.t('Conductor: Choose Conductor Model'),
      placeHolder: vscode.l10n.t('Which model plans on this machine? It needs no key, and no network once it is here.'),
      ignoreFocusOut: true,
      matchOnDetail: true,
    });
    switch (picked?.choice?.from) {
      case 'machine': return picked.choice.model;
      case 'hub': return this.#pull(picked.choice.repo);
      case 'other-hub': return this.#pullOther();
      case 'folder': return pickFolder();
      case undefined: return undefined;
    }
  }

  async #pullOther(): Promise<string | undefined> {
    const repo = await vscode.window.showInputBox({
      title: vscode.l10n.t('Conductor: Choose Conductor Model'),
      prompt: vscode.l10n.t('Name of a Gemma 3, Llama, Mistral, Phi-3, Phi-4, Qwen or SmolLM2 model on the hub, with its original weights'),
      placeHolder: 'Qwen/Qwen3-0.6B',
      ignoreFocusOut: true,
      validateInput: (text) => (REPO.test(text.trim()) ? undefined : vscode.l10n.t('A model is named owner/name.')),
    });
    return repo === undefined ? undefined : this.#pull(repo.trim());
  }

  /** @returns the model's name; undefined if the download was cancelled, which keeps the partial download */
  async #pull(repo: string, token?: string): Promise<string | undefined> {
    try {
      return await this.#download(repo, token);
    } catch (error) {
      if (!(error instanceof RequestError) || !WANTS_TOKEN.has(error.kind)) throw error;
      const enterToken = vscode.l10n.t('Enter Token');
      const options = { modal: true, detail: error.message };
      const title = vscode.l10n.t('{0} requires an access token.', repo);
      if ((await vscode.window.showWarningMessage(title, options, enterToken)) !== enterToken) return undefined;
      const value = await askKeyValue(TOKEN_NAME, { keepable: false });
      return value ? this.#pull(repo, value) : undefined;
    }
  }

  async #download(repo: string, token: string | undefined): Promise<string | undefined> {
    const { connection } = this.#options;
    const title = vscode.l10n.t('Conductor: downloading {0}', repo);
    return withProgressNotice(title, async (report, signal) => {
      let percent = 0;
      const end = connection.on('model/pullProgress', (pull) => {
        if (pull.repo !== repo || pull.totalBytes === 0) return;
        const now = (100 * pull.receivedBytes) / pull.totalBytes;
        const sizes = vscode.l10n.t('{0} of {1}', formatBytes(pull.receivedBytes), formatBytes(pull.totalBytes));
        const rate = pull.bytesPerSecond > 0 ? vscode.l10n.t(', {0}/s', formatBytes(pull.bytesPerSecond)) : '';
        report({ message: sizes + rate, increment: Math.max(0, now - percent) });
        percent = Math.max(percent, now);
      });
      try {
        await connection.request('models/pull', { repo, ...(token !== undefined && { token }) }, signal);
        return repo;
      } catch (error) {
        if (signal.aborted) return undefined;
        throw error;
      } finally {
        end();
      }
    });
  }

  /** Skipped if there is no other worker to answer. */
  async #askWhetherItAnswers(model: string): Promise<boolean | undefined> {
    const pool = await this.#options.connection.request('pool/get', {});
    const others = pool.workers.filter(({ worker, ready }) => worker.enabled && ready && worker.model !== model);
    if (others.length === 0) return true;
    const picked = await vscode.window.showQuickPick([
      { answers: false, label: vscode.l10n.t('It plans'), detail: vscode.l10n.t('The other workers answer.') },
      { answers: true, label: vscode.l10n.t('It plans and answers'), detail: vscode.l10n.t('It is one of the workers, too.') },
    ], {
      title: vscode.l10n.t('Conductor: Choose Conductor Model'),
      placeHolder: vscode.l10n.t('What does {0} do?', modelTitle(model)),
      ignoreFocusOut: true,
    });
    return picked?.answers;
  }
}

function itemsOf({ pulled, offered, recommended }: LocalModelsView): Item[] {
  const here = new Set(pulled.map(({ repo }) => repo));
  const isRecommended = ({ repo }: OfferedModel): boolean => repo === recommended?.repo;
  const missing = offered.filter(({ repo }) => !here.has(repo)).sort((a, b) => Number(isRecommended(b)) - Number(isRecommended(a)));
  const separator = (label: string): Item => ({ label, kind: vscode.QuickPickItemKind.Separator });
  return [
    ...(here.size > 0 ? [separator(vscode.l10n.t('on this machine'))] : []),
    ...[...here].map((repo): Item => ({
      label: repo,
      description: recommended?.repo === repo ? vscode.l10n.t('recommended') : '',
      choice: { from: 'machine', model: repo },
    })),
    separator(vscode.l10n.t('to download')),
    ...missing.map((model): Item => ({
      label: `$(cloud-download) ${model.repo}`,
      description: [
        formatBytes(model.downloadBytes), model.licence, ...(isRecommended(model) ? [vscode.l10n.t('recommended')] : []),
      ].join(' · '),
      ...(isRecommended(model) && recommended && { detail: recommended.reason }),
      choice: { from: 'hub', repo: model.repo },
    })),
    separator(vscode.l10n.t('another one')),
    { label: vscode.l10n.t('$(search) By its name on the hub…'), choice: { from: 'other-hub' } },
    { label: vscode.l10n.t('$(folder) A folder on this machine…'), choice: { from: 'folder' } },
  ];
}

async function pickFolder(): Promise<string | undefined> {
  const [folder] = (await vscode.window.showOpenDialog({
    title: vscode.l10n.t('Folder of a model, with config.json and *.safetensors'),
    canSelectFiles: false,
    canSelectFolders: true,
    openLabel: vscode.l10n.t('Use This Model'),
  })) ?? [];
  return folder?.fsPath;
}
