import * as vscode from 'vscode';
import type { FoundModel, FoundServer, FoundServers } from '../../backend/protocol/found-servers.ts';
import { KNOWN_AGENTS, type AgentName } from '../../backend/protocol/known-agents.ts';
import type { Pool } from '../../backend/protocol/methods.ts';
import type { Reason, Suggestion } from './first-pool.ts';
import { SERVER_NAMES, sizeOf, type FoundWorker } from './found-models.ts';
import { serversOf, type PoolServer } from './named-server.ts';
import { plainLabel } from '../common/plain-message.ts';
import { WORKER_PRESETS, type WorkerPreset } from './worker-presets.ts';

/* Lists of `Conductor: Add Worker`: the sources of workers, and the models of a source. */

/** The selected source. */
export type Source =
  | { readonly from: 'found'; readonly models: readonly FoundWorker[] }
  | { readonly from: 'preset'; readonly preset: WorkerPreset; readonly known: boolean }
  | { readonly from: 'agent'; readonly name: AgentName }
  | { readonly from: 'look-again' }
  | { readonly from: 'this-machine' };

export type SourceItem = vscode.QuickPickItem & { readonly source?: Source };

/**
 * The sources of workers: the pool's servers first, then the found ones.
 * @param models those without a worker in the pool
 * @param agents those that are installed
 */
export function sourceItems(models: readonly FoundWorker[], found: FoundServers, pool: Pool, agents: readonly AgentName[] = []): SourceItem[] {
  const servers = serversOf(pool).filter(({ baseUrl, key }) => key !== undefined || !found.servers.some((server) => server.baseUrl === baseUrl));
  return [
    ...(servers.length > 0 ? [separator(vscode.l10n.t('servers of your workers'))] : []),
    ...servers.map(poolServerItem),
    separator(vscode.l10n.t('found')),
    models.length > 0 ? foundItem(models, pool) : nothingFoundItem(found),
    ...found.servers.filter(({ needsKey }) => needsKey).map(lockedItem),
    ...agents.filter((name) => !isInPool(name, pool)).map(agentItem),
    separator(vscode.l10n.t('with a key')),
    ...WORKER_PRESETS.filter(({ key }) => key !== undefined).map(presetItem),
    separator(vscode.l10n.t('in another way')),
    ...WORKER_PRESETS.filter(({ key }) => key === undefined).map(presetItem),
    {
      label: vscode.l10n.t('A model on this machine'),
      description: vscode.l10n.t('is downloaded once; needs no key, and no network afterwards'),
      source: { from: 'this-machine' },
    },
  ];
}

function separator(label: string): SourceItem {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

function foundItem(models: readonly FoundWorker[], { workers }: Pool): SourceItem {
  const servers = [...new Set(models.map(({ server }) => server))];
  const counts = servers.map((server) => vscode.l10n.t('{0}: {1}', SERVER_NAMES[server], models.filter((model) => model.server === server).length));
  return {
    label: vscode.l10n.t('$(sparkle) Models that were found'),
    description: counts.join(' · '),
    detail: workers.length === 0
      ? vscode.l10n.t('Suggests a first pool and gives reasons; you choose.')
      : vscode.l10n.t('Models that are not workers yet; you choose.'),
    source: { from: 'found', models },
  };
}

function isInPool(name: AgentName, { workers }: Pool): boolean {
  const [program] = KNOWN_AGENTS[name].agent.command;
  return workers.some(({ worker }) => worker.agent?.command[0] === program);
}

function agentItem(name: AgentName): SourceItem {
  return {
    label: `$(hubot) ${KNOWN_AGENTS[name].label}`,
    description: vscode.l10n.t('an agent that is installed here'),
    detail: vscode.l10n.t('Works with its own tools and your login, in a private copy in the sandbox.'),
    source: { from: 'agent', name },
  };
}

function nothingFoundItem({ looked }: FoundServers): SourceItem {
  const places = looked.map(({ kind, port }) => vscode.l10n.t('{0} (port {1})', SERVER_NAMES[kind], port)).join(', ');
  return {
    label: vscode.l10n.t('$(refresh) Look again'),
    description: vscode.l10n.t('nothing new was found'),
    detail: vscode.l10n.t('Looked on this machine for {0}, and for models of VS Code. Start one, then look again.', places),
    source: { from: 'look-again' },
  };
}

function lockedItem({ kind, baseUrl }: FoundServer): SourceItem {
  const preset: WorkerPreset = { label: SERVER_NAMES[kind], provider: 'openai-compatible', baseUrl, key: 'LOCAL_SERVER_KEY', example: 'model-name' };
  return {
    label: `$(key) ${preset.label}`, description: baseUrl, detail: vscode.l10n.t('It requires a key to list its models.'), source: { from: 'preset', preset, known: false },
  };
}

function presetItem(preset: WorkerPreset): SourceItem {
  const isNamed = preset.baseUrl !== undefined || preset.provider !== 'openai-compatible';
  const description = isNamed ? preset.baseUrl ?? '' : vscode.l10n.t('you enter its address');
  return { label: preset.label, description, source: { from: 'preset', preset, known: false } };
}

function poolServerItem(preset: PoolServer): SourceItem {
  const { label, key, workers } = preset;
  const counted = workers === 1 ? vscode.l10n.t('1 worker') : vscode.l10n.t('{0} workers', workers);
  return {
    label: vscode.l10n.t('$(server) Another model of {0}', plainLabel(label)),
    description: key === undefined ? counted : vscode.l10n.t('{0}, its key is known', counted),
    source: { from: 'preset', preset, known: true },
  };
}

export type ModelItem = vscode.QuickPickItem & { readonly found?: FoundWorker };

/** Suggested models come first and are preselected. */
export function modelItems(models: readonly FoundWorker[], suggested: readonly Suggestion[]): ModelItem[] {
  const others = models.filter((model) => !suggested.some(({ found }) => found === model));
  const item = (found: FoundWorker): ModelItem => ({ found, label: plainLabel(found.name), description: factsOf(found) });
  return [
    ...(suggested.length > 0 ? [separator(vscode.l10n.t('suggested'))] : []),
    ...suggested.map(({ found, why }): ModelItem => ({ ...item(found), detail: reasonOf(why), picked: true })),
    ...(suggested.length > 0 && others.length > 0 ? [separator(vscode.l10n.t('others'))] : []),
    ...others.map(item),
  ];
}

export type ListedItem = vscode.QuickPickItem & { readonly model?: FoundModel };

/** The models that a server lists, followed by an entry for typing another one. */
export function listedItems(models: readonly FoundModel[], isPicked: (model: FoundModel) => boolean): ListedItem[] {
  const sorted = [...models].sort((a, b) => a.name.localeCompare(b.name));
  return [
    ...sorted.map((model): ListedItem => ({
      model, label: plainLabel(model.name), picked: isPicked(model),
      ...(model.parameters !== undefined && { description: sizeOf(model.parameters) }),
    })),
    { label: vscode.l10n.t('$(edit) Another one, by its name…') },
  ];
}

function factsOf({ server, parameters, remote }: FoundWorker): string {
  return [
    SERVER_NAMES[server],
    ...(server === 'vscode' ? [vscode.l10n.t('tokens and cost are estimates')] : []),
    ...(parameters === undefined ? [] : [sizeOf(parameters)]),
    ...(remote && server !== 'vscode' ? [vscode.l10n.t('runs on another machine')] : []),
  ].map(plainLabel).join(' · ');
}

function reasonOf(why: Reason): string {
  switch (why) {
    case 'strongest': return vscode.l10n.t('The strongest model found: good for hard steps.');
    case 'code': return vscode.l10n.t('Made for code: good for writing the change.');
    case 'quick': return vscode.l10n.t('Small and fast: good for easy steps.');
    case 'other-family': return vscode.l10n.t('From another model family, which makes different mistakes: good for checking the others.');
    case 'next': return vscode.l10n.t('The next strongest: a plan needs two models to divide the work.');
  }
}
