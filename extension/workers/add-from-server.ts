import * as vscode from 'vscode';
import type { FoundModel, ListedModels } from '../../backend/protocol/found-servers.ts';
import type { Pool } from '../../backend/protocol/methods.ts';
import { isLoopback, type WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { askServerKey, type WithoutKey } from './ask-key-value.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { workerOf } from './found-models.ts';
import type { KeyStore } from './keys.ts';
import { addressOf, addressProblem, freeKeyName, hostOf, keyNameOf, modelProblem } from './named-server.ts';
import { withProgressNotice } from '../common/progress-notice.ts';
import { tryWorkers, type TriedWorker } from './try-workers.ts';
import { listedItems } from './worker-items.ts';
import type { WorkerPreset } from './worker-presets.ts';

export interface AddFromServerOptions {
  readonly connection: Pick<BackendConnection, 'request'>;
  readonly keys: Pick<KeyStore, 'get' | 'set' | 'remove'>;
  /** @returns the ids of the workers, which are now in the pool */
  readonly save: (workers: readonly WorkerConfig[]) => Promise<string[]>;
}

/** The current step. Success leads to the next one; a failure can lead back to any of them. */
type Step = 'address' | 'key' | 'models' | 'try';

/** The server's data as far as it is known. */
interface Named {
  readonly preset: WorkerPreset;
  /** Undefined if the provider has a fixed address. */
  readonly baseUrl: string | undefined;
  /** Empty if the server needs no key; undefined until the user was prompted. */
  readonly key: string | undefined;
  readonly models: readonly FoundModel[];
}

const title = (): string => vscode.l10n.t('Conductor: Add Worker');

/**
 * Adds workers of a server that the user names: asks for its address, its key, and which of its models to add. Tries each with a real call
 * before saving.
 */
export class AddFromServer {
  readonly #options: AddFromServerOptions;

  constructor(options: AddFromServerOptions) {
    this.#options = options;
  }

  /**
   * @param known true if the pool has workers of this server; its key is then not requested again. @returns the ids of the saved workers
   */
  async run(preset: WorkerPreset, known: boolean, pool: Pool): Promise<string[]> {
    const { connection, keys } = this.#options;
    const stored = preset.key === undefined ? undefined : await keys.get(preset.key);
    let named: Named = { preset, baseUrl: preset.baseUrl, models: [], key: !known ? undefined : preset.key === undefined ? '' : stored };
    let step: Step = preset.provider === 'openai-compatible' && preset.baseUrl === undefined ? 'address' : afterAddress(named);
    const added: string[] = [];
    let now = pool;
    for (;;) {
      switch (step) {
        case 'address': {
          const baseUrl = await askAddress(named.baseUrl);
          if (baseUrl === undefined) return added;
          named = { ...named, baseUrl };
          step = afterAddress(named);
          break;
        }
        case 'key': {
          const key = await askKey(named, stored);
          if (key === undefined) return added;
          named = { ...named, key };
          step = named.models.length > 0 ? 'try' : 'models';
          break;
        }
        case 'models': {
          const chosen = await this.#chooseModels(named, now);
          if (chosen === undefined) return added;
          if (typeof chosen === 'string') {
            step = chosen;
          } else {
            named = { ...named, ...chosen };
            step = 'try';
          }
          break;
        }
        case 'try': {
          const tried = await this.#tryAndSave(named, now);
          added.push(...tried.added);
          if (!tried.next) return added;
          if (tried.added.length > 0) now = await connection.request('pool/get', {});
          named = { ...named, models: named.models.filter(({ name }) => tried.left.includes(name)) };
          step = tried.next;
          break;
        }
      }
    }
  }

  /** Requests the server's models and lets the user select some. @returns a step to go back to; undefined after Escape */
  async #chooseModels(named: Named, pool: Pool): Promise<Pick<Named, 'baseUrl' | 'models'> | Step | undefined> {
    const listed = await this.#list(named);
    if (!listed) return undefined;
    // A provider's fixed address stays undefined.
    const baseUrl = named.baseUrl === undefined ? undefined : listed.baseUrl;
    const typed = async (): Promise<Pick<Named, 'baseUrl' | 'models'> | undefined> => {
      const name = await askModel(named, listed);
      return name === undefined ? undefined : { baseUrl, models: [{ name, remote: baseUrl === undefined || !isLoopback(baseUrl) }] };
    };
    if (listed.state === 'unlisted') return typed();
    if (listed.state !== 'listed') {
      const next = await askAfterNoList(named, listed);
      return next === 'type' ? typed() : next;
    }
    const picked = await pickModels({ ...named, baseUrl }, listed.models, pool);
    if (!picked) return undefined;
    const more = picked.more ? await typed() : { models: [] };
    return more && { baseUrl, models: [...picked.models, ...more.models] };
  }

  async #list({ preset: { provider }, baseUrl, key }: Named): Promise<ListedModels | undefined> {
    return withProgressNotice(vscode.l10n.t('Conductor: asking for the models'), async (_report, signal) => {
      const server = { provider, ...(baseUrl !== undefined && { baseUrl }), ...(key && { key }) };
      try {
        return await this.#options.connection.request('servers/models', { server }, signal);
      } catch (error) {
        if (signal.aborted) return undefined;
        throw error;
      }
    });
  }

  /** @returns the saved ids, the models that did not answer, and the step that the user chose for them */
  async #tryAndSave(named: Named, pool: Pool): Promise<{ added: string[]; left: string[]; next?: Step | undefined }> {
    const { connection, keys, save } = this.#options;
    const keyName = await this.#keyName(named, pool);
    const workers = workersOf(named, keyName, pool);
    // The backend requests the key by name when it tries a worker. So it is stored first, and restored if no worker is saved.
    const before = keyName === undefined ? undefined : await keys.get(keyName);
    if (keyName !== undefined && named.key) await keys.set(keyName, named.key);
    let isKept = false;
    try {
      const tried = await tryWorkers(connection, workers);
      const added = await save(answered(tried));
      isKept = added.length > 0;
      const left = tried.filter(({ problem }) => problem !== undefined);
      if (left.length === 0) return { added, left: [] };
      const chosen = await askAfterTry(named, left, workers.length);
      if (chosen === 'save') {
        added.push(...(await save(left.map(({ worker }) => worker))));
        isKept = true;
        return { added, left: [] };
      }
      return { added, left: left.map(({ worker }) => worker.model), next: chosen };
    } finally {
      if (!isKept && keyName !== undefined) await (before === undefined ? keys.remove(keyName) : keys.set(keyName, before));
    }
  }

  /** The key's name, chosen without a prompt. */
  async #keyName({ preset, baseUrl, key }: Named, { workers }: Pool): Promise<string | undefined> {
    if (!key) return undefined;
    if (preset.key !== undefined || baseUrl === undefined) return preset.key;
    return freeKeyName(keyNameOf(baseUrl), key, {
      stored: (name) => this.#options.keys.get(name),
      isTaken: (name) => workers.some(({ worker }) => worker.key === name && worker.baseUrl !== baseUrl),
    });
  }
}

function afterAddress({ key }: Named): Step {
  return key === undefined ? 'key' : 'models';
}

function answered(tried: readonly TriedWorker[]): WorkerConfig[] {
  return tried.filter(({ problem }) => problem === undefined).map(({ worker }) => worker);
}

function serverName({ preset, baseUrl }: Pick<Named, 'preset' | 'baseUrl'>): string {
  return baseUrl === undefined || baseUrl === preset.baseUrl ? preset.label : hostOf(baseUrl);
}

function workersOf({ preset: { provider }, baseUrl, models }: Named, key: string | undefined, pool: Pool): WorkerConfig[] {
  const taken = pool.workers.map(({ worker }) => worker.id);
  const workers: WorkerConfig[] = [];
  for (const { name, ...facts } of models) {
    const found = { server: 'other', provider, model: name, name, baseUrl, key, ...facts } as const;
    workers.push(workerOf(found, [...taken, ...workers.map(({ id }) => id)]));
  }
  return workers;
}

async function askAddress(before: string | undefined): Promise<string | undefined> {
  const typed = await vscode.window.showInputBox({
    title: title(),
    prompt: vscode.l10n.t('Address of the server’s OpenAI-compatible API'),
    placeHolder: 'http://127.0.0.1:8080/v1',
    value: before ?? '',
    ignoreFocusOut: true,
    validateInput: (text) => addressProblem(text, vscode.l10n),
  });
  return typed === undefined ? undefined : addressOf(typed);
}

/** @returns the typed or the stored key */
async function askKey(named: Named, stored: string | undefined): Promise<string | undefined> {
  const without: WithoutKey = stored !== undefined && named.key === undefined ? 'kept' : named.preset.key === undefined ? 'none' : 'refused';
  const typed = await askServerKey(serverName(named), without);
  return typed === '' && without === 'kept' ? stored : typed;
}

async function askModel({ preset, models }: Named, { state }: ListedModels): Promise<string | undefined> {
  const name = await vscode.window.showInputBox({
    title: title(),
    prompt: state === 'unlisted'
      ? vscode.l10n.t('The server does not say which models it has. What does it call the one that you want?')
      : vscode.l10n.t('The server’s name of the model'),
    placeHolder: preset.example,
    value: models[0]?.name ?? '',
    ignoreFocusOut: true,
    validateInput: (text) => modelProblem(text, vscode.l10n),
  });
  return name?.trim();
}

/** @returns the ticked models, and whether the user wants to type one more; undefined after Escape */
async function pickModels(named: Named, listed: readonly FoundModel[], pool: Pool): Promise<{ models: FoundModel[]; more: boolean } | undefined> {
  const { preset: { provider }, baseUrl, models } = named;
  const isWorker = ({ name }: FoundModel): boolean =>
    pool.workers.some(({ worker }) => worker.provider === provider && worker.baseUrl === baseUrl && worker.model === name);
  const offered = listed.filter((model) => !isWorker(model));
  const isPicked = ({ name }: FoundModel): boolean => models.some((model) => model.name === name);
  let placeHolder = vscode.l10n.t('Tick those that may answer. Each is tried before it is added.');
  for (;;) {
    const picked = await vscode.window.showQuickPick(listedItems(offered, isPicked), {
      title: title(), placeHolder, canPickMany: true, ignoreFocusOut: true, matchOnDescription: true,
    });
    if (!picked) return undefined;
    const chosen = picked.flatMap(({ model }) => model ?? []);
    if (picked.length > 0) return { models: chosen, more: picked.length > chosen.length };
    // Enter accepts the ticked rows, not the focused one.
    placeHolder = vscode.l10n.t('Nothing is ticked: tick one or more, by a click or the space bar.');
  }
}

/** Handles a failed model list. @returns the next step, or `type` if the user types a model's name */
async function askAfterNoList(named: Named, { state, baseUrl }: ListedModels): Promise<Step | 'type' | undefined> {
  const host = serverName({ ...named, baseUrl: named.baseUrl === undefined ? undefined : baseUrl });
  const question = state === 'unknown-host' ? vscode.l10n.t('{0} cannot be found.', host)
    : state === 'silent' ? vscode.l10n.t('Nothing answers at {0}.', host)
    : named.key ? vscode.l10n.t('{0} does not accept this key.', host)
    : vscode.l10n.t('{0} requires a key.', host);
  const detail = state === 'unknown-host' ? vscode.l10n.t('There may be no network connection, or the address is not right.')
    : state === 'silent' ? vscode.l10n.t('Is the server running, and is the address right?')
    : vscode.l10n.t('It lists its models only with a key.');
  const choices: [string, Step | 'type'][] = [
    state === 'refused' ? [named.key ? vscode.l10n.t('Enter Another Key') : vscode.l10n.t('Enter Key'), 'key'] : [vscode.l10n.t('Try Again'), 'models'],
    ...changeAddress(named),
    [vscode.l10n.t('Type a Model’s Name'), 'type'],
  ];
  return chosenOf(choices, question, detail);
}

async function askAfterTry(named: Named, bad: readonly TriedWorker[], all: number): Promise<Step | 'save' | undefined> {
  const question = bad.length === 1
    ? vscode.l10n.t('The worker "{0}" did not answer.', bad[0]?.worker.id ?? '')
    : vscode.l10n.t('{0} of {1} workers did not answer.', bad.length, all);
  const choices: [string, Step | 'save'][] = [
    [vscode.l10n.t('Try Again'), 'try'],
    [named.key ? vscode.l10n.t('Enter Another Key') : vscode.l10n.t('Enter Key'), 'key'],
    ...changeAddress(named),
    [vscode.l10n.t('Change Model…'), 'models'],
    [vscode.l10n.t('Save Anyway'), 'save'],
  ];
  return chosenOf(choices, question, bad.map(({ problem }) => problem ?? '').join('\n\n'));
}

/** Providers with a fixed address keep it. */
function changeAddress({ preset: { provider } }: Named): [string, 'address'][] {
  return provider === 'openai-compatible' ? [[vscode.l10n.t('Change Address…'), 'address']] : [];
}

async function chosenOf<T>(choices: readonly [string, T][], question: string, detail: string): Promise<T | undefined> {
  const chosen = await vscode.window.showWarningMessage(question, { modal: true, detail }, ...choices.map(([label]) => label));
  return choices.find(([label]) => label === chosen)?.[1];
}
