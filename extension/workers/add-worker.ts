import * as vscode from 'vscode';
import type { Pool } from '../../backend/protocol/methods.ts';
import { estimateWords, plannerReason } from '../../backend/protocol/planner-words.ts';
import type { WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { KNOWN_AGENTS, type AgentName } from '../../backend/protocol/known-agents.ts';
import { AddFromServer } from './add-from-server.ts';
import { askStepUsd } from './ask-step-usd.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { suggestPool } from './first-pool.ts';
import { letHands } from './let-hands.ts';
import { modelsOf, notInPool, workerOf, type FoundWorker } from './found-models.ts';
import type { KeyStore } from './keys.ts';
import { offeredLanguageModels } from './language-models.ts';
import type { PoolStore } from './pool-store.ts';
import { plainMessage } from '../common/plain-message.ts';
import { tryWorkers } from './try-workers.ts';
import { modelItems, sourceItems, type Source, type SourceItem } from './worker-items.ts';
import { agentWorker, type WorkerPreset } from './worker-presets.ts';

interface AddWorkerOptions {
  readonly connection: BackendConnection;
  readonly keys: KeyStore;
  readonly poolStore: Pick<PoolStore, 'set'>;
  /** Lets a local model plan and answer instead of a remote worker. */
  readonly chooseModel: () => Promise<string | undefined>;
}

function planningWords({ worker, choice }: NonNullable<Pool['planner']>): string {
  return vscode.l10n.t('{0} plans who does what: {1}.', worker.id, [plannerReason(choice.why), ...estimateWords(choice.estimate)].join(', '));
}

const title = (): string => vscode.l10n.t('Conductor: Add Worker');

/** `Conductor: Add Worker`: detects local models, asks for missing data, makes a real call, and saves the workers that answered. */
export class AddWorkerCommand {
  readonly #options: AddWorkerOptions;

  constructor(options: AddWorkerOptions) {
    this.#options = options;
  }

  /** @returns the first saved worker's id; undefined if nothing was saved */
  async run(): Promise<string | undefined> {
    const pool = await this.#options.connection.request('pool/get', {});
    for (;;) {
      const source = await this.#pickSource(pool);
      switch (source?.from) {
        case undefined: return undefined;
        case 'look-again': continue;
        case 'this-machine': return this.#options.chooseModel();
        case 'agent': return this.#addAgent(source.name, pool);
        case 'found': return this.#addFound(source.models, pool);
        case 'preset': return this.#addFromServer(source.preset, source.known, pool);
      }
    }
  }

  async #pickSource(pool: Pool): Promise<Source | undefined> {
    const picked = await vscode.window.showQuickPick(this.#sources(pool), {
      title: title(), placeHolder: vscode.l10n.t('Who serves the model?'), ignoreFocusOut: true, matchOnDetail: true,
    });
    return picked?.source;
  }

  /** Detects servers while the list is already open. */
  async #sources(pool: Pool): Promise<SourceItem[]> {
    const { connection } = this.#options;
    const [found, languageModels, { agents }] = await Promise.all([
      connection.request('servers/find', {}), offeredLanguageModels(), connection.request('agents/find', {}),
    ]);
    const models = notInPool([...modelsOf(found.servers), ...languageModels], pool);
    return sourceItems(models, found, pool, agents);
  }

  /** Adds an agent that is installed, with what a step of it may cost. */
  async #addAgent(name: AgentName, pool: Pool): Promise<string | undefined> {
    const stepUsd = await askStepUsd(KNOWN_AGENTS[name].label);
    if (stepUsd === undefined) return undefined;
    const added = await this.#addThoseThatAnswer([agentWorker(name, stepUsd, pool.workers.map(({ worker }) => worker.id))]);
    await this.#tell(added);
    return added[0];
  }

  /** Adds the detected models that the user selects and that answer. */
  async #addFound(models: readonly FoundWorker[], pool: Pool): Promise<string | undefined> {
    const picked = await vscode.window.showQuickPick(modelItems(models, pool.workers.length === 0 ? suggestPool(models) : []), {
      title: title(),
      placeHolder: vscode.l10n.t('Which of these may answer? Each is tried before it is added.'),
      canPickMany: true,
      ignoreFocusOut: true,
      matchOnDescription: true,
      matchOnDetail: true,
    });
    const taken = pool.workers.map(({ worker }) => worker.id);
    const workers: WorkerConfig[] = [];
    for (const { found } of picked ?? []) {
      if (found) workers.push(workerOf(found, [...taken, ...workers.map(({ id }) => id)]));
    }
    const added = await this.#addThoseThatAnswer(workers);
    await this.#tell(added);
    return added[0];
  }

  /** @returns the ids of the saved workers */
  async #addThoseThatAnswer(workers: readonly WorkerConfig[]): Promise<string[]> {
    if (workers.length === 0) return [];
    const tried = await tryWorkers(this.#options.connection, workers);
    const good = tried.filter(({ problem }) => problem === undefined).map(({ worker }) => worker);
    const added = await this.#save(good);
    const bad = tried.filter(({ problem }) => problem !== undefined);
    if (bad.length === 0) return added;
    const tryAgain = vscode.l10n.t('Try Again');
    const saveAnyway = vscode.l10n.t('Save Anyway');
    const detail = bad.map(({ problem }) => problem ?? '').join('\n\n');
    const question = bad.length === 1
      ? vscode.l10n.t('The worker "{0}" did not answer.', bad[0]?.worker.id ?? '')
      : vscode.l10n.t('{0} of {1} workers did not answer.', bad.length, workers.length);
    const chosen = await vscode.window.showWarningMessage(question, { modal: true, detail }, tryAgain, saveAnyway);
    const left = bad.map(({ worker }) => worker);
    if (chosen === tryAgain) return [...added, ...(await this.#addThoseThatAnswer(left))];
    return chosen === saveAnyway ? [...added, ...(await this.#save(left))] : added;
  }

  /** @returns their ids */
  async #save(workers: readonly WorkerConfig[]): Promise<string[]> {
    const { connection, poolStore } = this.#options;
    for (const worker of await letHands(workers)) poolStore.set(await connection.request('worker/save', { worker, conductor: false }));
    return workers.map(({ id }) => id);
  }

  /** Adds workers of a server that the user names or that the pool already uses. */
  async #addFromServer(preset: WorkerPreset, known: boolean, pool: Pool): Promise<string | undefined> {
    const { connection, keys } = this.#options;
    const adding = new AddFromServer({ connection, keys, save: (workers) => this.#save(workers) });
    const added = await adding.run(preset, known, pool);
    await this.#tell(added);
    return added[0];
  }

  /** Does not wait for the user's response. */
  async #tell(added: readonly string[]): Promise<void> {
    const [first] = added;
    if (first === undefined) return;
    const pool = await this.#options.connection.request('pool/get', {});
    const edit = vscode.l10n.t('Edit Workers');
    const sentences = [
      added.length === 1 ? vscode.l10n.t('Added the worker "{0}".', first) : vscode.l10n.t('Added {0} workers: {1}.', added.length, added.join(', ')),
      ...(pool.planner ? [planningWords(pool.planner)] : []),
    ];
    void vscode.window.showInformationMessage(plainMessage(sentences.join(' ')), edit).then(async (chosen) => {
      if (chosen === edit) await vscode.commands.executeCommand('conductor.openWorkersFile');
    });
  }
}
