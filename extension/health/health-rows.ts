import type * as vscode from 'vscode';
import { isBundled } from '../../backend/protocol/bundled-conductor.ts';
import { formatBytes, formatTokens, formatUsd } from '../../backend/protocol/figures.ts';
import type { LocalModelsView } from '../../backend/protocol/local-models.ts';
import type { HealthDetails, Pool, WorkerStatus } from '../../backend/protocol/methods.ts';
import { estimateWords, plannerReason } from '../../backend/protocol/planner-words.ts';
import { priceWords } from '../../backend/protocol/price-words.ts';
import type { FoundTests } from '../../backend/protocol/test-command.ts';
import { readingOf } from '../../backend/protocol/test-runners.ts';
import type { WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { plannerOf } from '../workers/local-models-of.ts';

/** An action of a row. The subject of `tryWorker` is the worker's id; the others have none. */
export const MENDS = [
  'addWorker', 'showDemonstration', 'setKey', 'tryWorker', 'chooseConductor', 'chooseConductorModel', 'chooseTestCommand', 'manageTrust',
  'copyRemedy', 'restartBackend', 'showLogs', 'openWorkersFile',
] as const;
export type MendId = (typeof MENDS)[number];

export interface Mend {
  readonly id: MendId;
  readonly label: string;
  readonly subject?: string;
}

export interface HealthRow {
  /** Unique on the page. */
  readonly id: string;
  readonly state: 'works' | 'missing' | 'broken' | 'note';
  readonly title: string;
  readonly text: string;
  readonly mends: readonly Mend[];
}

/** The detected tests of one open folder. */
export interface FolderTests {
  readonly name: string;
  /** null: the user wants none; undefined: the first that is detected. */
  readonly chosen: string | null | undefined;
  /** undefined: detection failed. */
  readonly found: readonly FoundTests[] | undefined;
}

/** All inputs of the page. Values that could not be obtained are undefined. */
export interface HealthFacts {
  /** Why the backend does not answer; undefined if it does. */
  readonly backendProblem: string | undefined;
  readonly extensionVersion: string;
  readonly details: HealthDetails | undefined;
  readonly pool: Pool | undefined;
  readonly models: LocalModelsView | undefined;
  readonly folders: readonly FolderTests[];
  readonly trusted: boolean;
  /** Results of trying workers from the page, by worker id. */
  readonly tried: ReadonlyMap<string, { readonly ok: boolean; readonly message: string }>;
}

type Words = Pick<typeof vscode.l10n, 't'>;

/** Below this, the journal, project copies or a model soon fill the disk. */
const LITTLE_SPACE = 1e9;

/** What works and what is missing, as text. The backend comes first: all else depends on it. */
export function healthRows(facts: HealthFacts, l10n: Words): HealthRow[] {
  const { details, pool } = facts;
  const backend = backendRow(facts, l10n);
  if (!details) return [backend];
  return [
    backend,
    ...(details.workersFileProblem === undefined ? [] : [workersFileRow(details.workersFileProblem, l10n)]),
    ...(pool ? [...workerRows(pool, facts, l10n), conductorRow(pool, details, l10n)] : []),
    ...testRows(facts, l10n),
    sandboxRow(details, l10n),
    localModelRow(facts, details, l10n),
    ...(details.budget ? [budgetRow(details.budget, l10n)] : []),
    storageRow(details, l10n),
  ];
}

function backendRow({ backendProblem, details, extensionVersion }: HealthFacts, l10n: Words): HealthRow {
  const title = l10n.t('Backend');
  const restart: Mend = { id: 'restartBackend', label: l10n.t('Restart the Backend') };
  const logs: Mend = { id: 'showLogs', label: l10n.t('Show Logs') };
  if (!details) {
    const text = backendProblem ?? l10n.t('It does not answer.');
    return { id: 'backend', state: 'broken', title, text, mends: [restart, logs] };
  }
  const { backendVersion, node, pid } = details;
  if (backendVersion !== extensionVersion) {
    const text = l10n.t('Version {0} runs, and the extension is version {1}: restart it once no run is under way.', backendVersion, extensionVersion);
    return { id: 'backend', state: 'broken', title, text, mends: [restart] };
  }
  return { id: 'backend', state: 'works', title, text: l10n.t('Version {0} runs on Node {1} as process {2}.', backendVersion, node, pid), mends: [restart] };
}

function workersFileRow(problem: string, l10n: Words): HealthRow {
  const mends: Mend[] = [{ id: 'openWorkersFile', label: l10n.t('Open Workers File') }];
  return { id: 'workers-file', state: 'broken', title: l10n.t('Workers file'), text: problem, mends };
}

function workerRows({ workers }: Pool, facts: HealthFacts, l10n: Words): HealthRow[] {
  const add: Mend = { id: 'addWorker', label: l10n.t('Add Worker') };
  const enabled = workers.filter(({ worker }) => worker.enabled);
  if (enabled.length === 0) {
    return [{
      id: 'workers',
      state: 'missing',
      title: l10n.t('Workers'),
      text: l10n.t('There is no worker yet, so questions cannot be answered. The demonstration shows how it works with simulated models.'),
      mends: [add, { id: 'showDemonstration', label: l10n.t('Show Demonstration') }],
    }];
  }
  return enabled.map((status) => workerRow(status, facts, l10n));
}

function workerRow({ worker, ready, reason, price, priced }: WorkerStatus, { details, tried }: HealthFacts, l10n: Words): HealthRow {
  const row = { id: `worker-${worker.id}`, title: l10n.t('Worker "{0}"', worker.id) };
  const tryNow: Mend = { id: 'tryWorker', label: l10n.t('Try "{0}" Now', worker.id), subject: worker.id };
  const last = tried.get(worker.id);
  if (!ready) {
    const mends: Mend[] = worker.key === undefined ? [] : [{ id: 'setKey', label: l10n.t('Set Key') }];
    return { ...row, state: worker.key === undefined ? 'broken' : 'missing', text: reason ?? l10n.t('It is not ready.'), mends };
  }
  if (last) return { ...row, state: last.ok ? 'works' : 'broken', text: last.message, mends: [tryNow] };
  const server = details?.servers.find((one) => one.worker === worker.id);
  const call = details?.lastCalls?.find((one) => one.worker === worker.id);
  if (call?.problem !== undefined) return { ...row, state: 'broken', text: l10n.t('Its last call failed. {0}', call.problem), mends: [tryNow] };
  if (server?.state === 'silent') return { ...row, state: 'broken', text: server.reason ?? l10n.t('Its server does not answer.'), mends: [tryNow] };
  const facts = [
    worker.simulated ? l10n.t('It is simulated.') : undefined,
    call ? l10n.t('Its last call was answered.') : reachOf(server?.state, worker, l10n),
    worker.key === undefined ? undefined : l10n.t('Its key {0} is there.', worker.key),
    worker.provider === 'vscode' ? l10n.t('VS Code does not report usage, so tokens and cost are estimates.') : undefined,
    priced ? price && l10n.t('Its price: {0}.', priceWords(price)) : l10n.t('Its price is not known, so only token limits apply to it.'),
  ];
  const isKnown = call !== undefined || server?.state === 'answers';
  return { ...row, state: isKnown ? 'works' : 'note', text: facts.filter((fact) => fact !== undefined).join(' '), mends: [tryNow] };
}

function reachOf(state: HealthDetails['servers'][number]['state'] | undefined, { model, key }: WorkerConfig, l10n: Words): string {
  if (state === 'answers') return l10n.t('Its server answers and has {0}.', model);
  if (state === 'unlisted') {
    return key === undefined
      ? l10n.t('Its server answers, and does not say whether it has {0}.', model)
      : l10n.t('Its server answers, and does not say without a key whether it has {0}.', model);
  }
  return l10n.t('Not tried yet: a call may cost something.');
}

function conductorRow(pool: Pool, { problems }: HealthDetails, l10n: Words): HealthRow {
  const planner = plannerOf(pool);
  const row = { id: 'conductor', title: l10n.t('Conductor') };
  const choose: Mend = { id: 'chooseConductor', label: l10n.t('Choose Conductor') };
  const chooseModel: Mend = { id: 'chooseConductorModel', label: l10n.t('Choose Conductor Model') };
  // It was chosen because planning costs nothing with it, so nobody takes its place.
  if (!planner && pool.conductor !== undefined && problems[0] !== undefined) {
    const text = l10n.t('"{0}" should plan and cannot run here. {1} Let a worker plan instead.', pool.conductor, problems[0]);
    return { ...row, state: 'broken', text, mends: [choose] };
  }
  if (!planner) return { ...row, state: 'missing', text: l10n.t('No model is set as the Conductor.'), mends: [choose, chooseModel] };
  const [problem] = planner.provider === 'local' ? problems : [];
  if (problem !== undefined) {
    const text = l10n.t('"{0}" should plan and cannot run here. {1} Let a worker plan instead.', planner.id, problem);
    return { ...row, state: 'broken', text, mends: pool.workers.length > 0 ? [choose] : [{ id: 'addWorker', label: l10n.t('Add Worker') }] };
  }
  const status = pool.workers.find(({ worker }) => worker.id === planner.id);
  if (status && !status.ready) {
    return { ...row, state: 'broken', text: l10n.t('"{0}" plans and is not ready. {1}', planner.id, status.reason ?? ''), mends: [choose] };
  }
  const { choice } = pool.planner ?? {};
  const why = choice ? [plannerReason(choice.why), ...estimateWords(choice.estimate)].join(', ') : '';
  const text = isBundled(planner, pool.bundledConductor)
    ? l10n.t('{0} plans: a small model that runs on this machine ({1}). A larger one plans better.', planner.id, why)
    : l10n.t('"{0}" plans, with the model {1} ({2}).', planner.id, status?.serves ?? planner.model, why);
  return { ...row, state: 'works', text, mends: [...(pool.workers.length > 0 ? [choose] : []), chooseModel] };
}

function testRows({ folders, trusted }: HealthFacts, l10n: Words): HealthRow[] {
  const title = l10n.t('Tests');
  if (!trusted) {
    const text = l10n.t('The workspace is not trusted. Its files are not sent, and its tests are not run.');
    return [{ id: 'tests', state: 'missing', title, text, mends: [{ id: 'manageTrust', label: l10n.t('Manage Trust') }] }];
  }
  if (folders.length === 0) {
    return [{ id: 'tests', state: 'note', title, text: l10n.t('No folder is open: answers are checked with the tests of the open folder.'), mends: [] }];
  }
  const choose: Mend = { id: 'chooseTestCommand', label: l10n.t('Choose Test Command') };
  return folders.map(({ name, chosen, found }, index) => {
    const row = { id: `tests-${index}`, title: folders.length === 1 ? title : l10n.t('Tests of {0}', name), mends: [choose] };
    if (chosen === null) return { ...row, state: 'note', text: l10n.t('You chose to run no tests: answers stay unchecked.') };
    if (chosen !== undefined) return { ...row, state: 'works', text: l10n.t('Answers are checked with the command you chose: {0}', chosen) };
    if (!found) return { ...row, state: 'broken', text: l10n.t('The search for its tests failed.') };
    const [first] = found;
    if (first) return { ...row, state: 'works', text: l10n.t('Answers are checked with the detected command: {0} ({1})', first.command, readingOf(first.runner)) };
    return { ...row, state: 'missing', text: l10n.t('No test command was found, so answers stay unchecked.') };
  });
}

function sandboxRow({ sandbox }: HealthDetails, l10n: Words): HealthRow {
  const row = { id: 'sandbox', title: l10n.t('Sandbox') };
  if (sandbox.available) {
    const holds = l10n.t('Tests run without network, and write only to their own copy of the project.');
    const by = sandbox.walls === 'bubblewrap' ? l10n.t('The sandbox is made by bubblewrap.') : l10n.t('The sandbox is made of namespaces, without bubblewrap.');
    return { ...row, state: 'works', text: sandbox.walls === undefined ? holds : `${holds} ${by}`, mends: [] };
  }
  const text = l10n.t('There is no sandbox, so Conductor asks before tests run. {0}', sandbox.reason ?? '');
  const mends: Mend[] = sandbox.remedy === undefined ? [] : [{ id: 'copyRemedy', label: l10n.t('Copy Install Command') }];
  return { ...row, state: 'missing', text: text.trim(), mends };
}

function localModelRow({ models }: HealthFacts, { problems }: HealthDetails, l10n: Words): HealthRow {
  const row = { id: 'local-models', title: l10n.t('Models on this machine') };
  if (problems.length > 0) return { ...row, state: 'broken', text: problems.join(' '), mends: [{ id: 'showLogs', label: l10n.t('Show Logs') }] };
  const mends: Mend[] = [{ id: 'chooseConductorModel', label: l10n.t('Choose Conductor Model') }];
  const pulled = models?.pulled.map(({ repo }) => repo) ?? [];
  const here = pulled.length > 0 ? l10n.t('Here: {0}.', pulled.join(', ')) : l10n.t('No model is downloaded, and none is required.');
  const advice = models?.recommended && !pulled.includes(models.recommended.repo)
    ? l10n.t('{0} would suit this machine. {1}', models.recommended.repo, models.recommended.reason)
    : '';
  return { ...row, state: 'note', text: `${l10n.t('They can run here.')} ${here} ${advice}`.trim(), mends };
}

function budgetRow({ today, limits }: NonNullable<HealthDetails['budget']>, l10n: Words): HealthRow {
  const { runUsd, runTokens, dayUsd, dayTokens } = limits;
  const row = { id: 'budget', title: l10n.t('Budget'), mends: [{ id: 'openWorkersFile', label: l10n.t('Open Workers File') }] as const };
  const text = [
    l10n.t(
      'Today {0} of {1} are spent, and {2} of {3} tokens.', formatUsd(today.usd), formatUsd(dayUsd), formatTokens(today.tokens), formatTokens(dayTokens),
    ),
    l10n.t('A run may spend {0} and {1} tokens. Models on this machine do not count.', formatUsd(runUsd), formatTokens(runTokens)),
  ].join(' ');
  if (today.usd < dayUsd && today.tokens < dayTokens) return { ...row, state: 'note', text };
  return { ...row, state: 'broken', text: `${text} ${l10n.t('The daily limit is reached: runs stop until tomorrow, or until you raise the limit.')}` };
}

function storageRow({ storage: { home, writable, freeBytes, journalBytes } }: HealthDetails, l10n: Words): HealthRow {
  const row = { id: 'storage', title: l10n.t('Storage'), mends: [] };
  if (!writable) return { ...row, state: 'broken', text: l10n.t('{0} is not writable, so runs cannot be saved: fix its permissions.', home) };
  const text = freeBytes === undefined
    ? l10n.t('Workers and runs are kept in {0}. The journal takes {1}.', home, formatBytes(journalBytes))
    : l10n.t('Workers and runs are kept in {0}. The journal takes {1}, and {2} are free.', home, formatBytes(journalBytes), formatBytes(freeBytes));
  if (freeBytes !== undefined && freeBytes < LITTLE_SPACE) return { ...row, state: 'broken', text: `${text} ${l10n.t('The disk is almost full: free some space.')}` };
  return { ...row, state: 'works', text };
}
