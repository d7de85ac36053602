import path from 'node:path';
import * as vscode from 'vscode';
import { GYM_TASKS, PROJECT_TASKS, USUAL_CONTESTANTS, type ContestantName } from '../../backend/protocol/contestants.ts';
import type { AskedEvaluation } from '../../backend/protocol/evaluation-request.ts';
import type { EvaluationOffer } from '../../backend/protocol/evaluations.ts';
import { formatUsd } from '../../backend/protocol/figures.ts';
import type { Pool } from '../../backend/protocol/methods.ts';
import { amountOf } from '../common/ask-raised-limit.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { chooseFolder } from '../common/looking-at.ts';
import { plainMessage } from '../common/plain-message.ts';
import { withProgressNotice } from '../common/progress-notice.ts';
import { requireTrust } from '../common/require-trust.ts';
import { readTestSettings } from '../common/test-settings.ts';

export interface EvaluateOptions {
  readonly connection: Pick<BackendConnection, 'request' | 'on'>;
  readonly open: (folder: string) => void;
}

type Tasks = Pick<AskedEvaluation, 'sources' | 'project'>;
type Workers = Pick<AskedEvaluation, 'pool' | 'simulated'>;
type Contestants = Pick<AskedEvaluation, 'contestants' | 'planners'>;
type Extent = Pick<AskedEvaluation, 'limit' | 'seeds' | 'rounds' | 'attempts' | 'budget'>;

/** Tokens for a dollar of the budget: they hold calls that have no known price. */
const TOKENS_PER_USD = 2_000_000;
const FIRST_EXTENT: Extent = { limit: 20, seeds: 1, rounds: 1, attempts: 1, budget: budgetOf(5) };
/** The model that answers for simulated workers when a plan is asked of it. */
const SIMULATED_CONDUCTOR = 'sim-conductor';

/** `Conductor: Evaluate`: asks what to compare, says what that costs, and starts it. */
export async function evaluate({ connection, open }: EvaluateOptions): Promise<void> {
  const tasks = await chooseTasks();
  if (!tasks) return;
  const pool = await connection.request('pool/get', {});
  const workers = await chooseWorkers(pool);
  if (!workers) return;
  const contestants = await chooseContestants(pool, workers);
  if (!contestants) return;
  const extent = await chooseExtent(workers.simulated);
  if (!extent) return;
  const request: AskedEvaluation = { ...tasks, ...workers, ...contestants, ...extent, practice: [], seed: 1, concurrency: 8 };
  const offer = await withProgressNotice(vscode.l10n.t('Estimating the cost of the evaluation'), async (report, signal) => {
    const stop = connection.on('evaluation/preparing', ({ tried, candidates, admitted }) => report({
      message: vscode.l10n.t('Making tasks: {0} admitted, {1} of {2} tried', admitted, tried, candidates),
    }));
    try {
      return await connection.request('evaluation/estimate', request, signal);
    } finally {
      stop();
    }
  });
  if (!(await isAgreed(offer, request))) return;
  const { folder } = await connection.request('evaluation/start', request);
  open(folder);
}

interface Choice<T> extends vscode.QuickPickItem {
  readonly value: T;
}

const title = (): string => vscode.l10n.t('Conductor: Evaluate');

async function chooseTasks(): Promise<Tasks | undefined> {
  const chosen = await vscode.window.showQuickPick<Choice<'gym' | 'project' | 'file'>>([
    { value: 'project', label: vscode.l10n.t('Tasks of my project'), detail: vscode.l10n.t('Made from the project’s history. Its tests judge the answers. This takes a few minutes.') },
    { value: 'file', label: vscode.l10n.t('Tasks of files…'), detail: vscode.l10n.t('Data sets as they are published, such as HumanEval, GSM8K or MMLU.') },
    { value: 'gym', label: vscode.l10n.t('Tasks of the gym'), detail: vscode.l10n.t('Small programming tasks that are part of Conductor.') },
  ], { title: title(), placeHolder: vscode.l10n.t('Which tasks should be answered?'), ignoreFocusOut: true });
  if (chosen === undefined) return undefined;
  if (chosen.value === 'gym') return { sources: [GYM_TASKS] };
  if (chosen.value === 'project') return await projectTasks();
  const files = await vscode.window.showOpenDialog({ title: title(), canSelectMany: true, openLabel: vscode.l10n.t('Use as Tasks') });
  return files === undefined || files.length === 0 ? undefined : { sources: files.map(({ fsPath }) => fsPath) };
}

async function projectTasks(): Promise<Tasks | undefined> {
  const choice = await chooseFolder(vscode.l10n.t('Which folder are the tasks made from?'));
  if (choice.kind !== 'folder') return undefined;
  const workspace = choice.folder.uri.fsPath;
  requireTrust(workspace);
  const { testCommand, testRunner, testReports, testImage } = readTestSettings(choice.folder.uri);
  const test = { ...(testCommand && { command: testCommand }), ...(testRunner && { runner: testRunner }), ...(testReports && { reports: testReports }) };
  return {
    sources: [PROJECT_TASKS],
    project: { workspace, ...(Object.keys(test).length > 0 && { test }), ...(testImage !== undefined && { image: testImage }) },
  };
}

async function chooseWorkers({ workers }: Pool): Promise<Workers | undefined> {
  const usable = workers.filter(({ worker }) => worker.enabled && !worker.agent).map(({ worker }) => worker);
  const ids = usable.map(({ id }) => id);
  const chosen = await vscode.window.showQuickPick<Choice<'all' | 'some' | 'simulated'>>([
    ...(ids.length > 0 ? [{ value: 'all' as const, label: vscode.l10n.t('My workers'), detail: ids.join(', ') }] : []),
    ...(ids.length > 1 ? [{ value: 'some' as const, label: vscode.l10n.t('Some of my workers…') }] : []),
    { value: 'simulated', label: vscode.l10n.t('Simulated workers'), detail: vscode.l10n.t('They need no key and cost nothing. Their figures show nothing about real models.') },
  ], { title: title(), placeHolder: vscode.l10n.t('Who answers?'), ignoreFocusOut: true });
  if (chosen === undefined) return undefined;
  if (chosen.value === 'simulated') return { simulated: true };
  if (chosen.value === 'all') return { simulated: false, pool: ids };
  const some = await vscode.window.showQuickPick(usable.map(({ id, model }) => ({ label: id, description: model, picked: true })), {
    title: title(), placeHolder: vscode.l10n.t('Which workers answer?'), canPickMany: true, ignoreFocusOut: true,
  });
  return some === undefined || some.length === 0 ? undefined : { simulated: false, pool: some.map(({ label }) => label) };
}

async function chooseContestants({ workers, bundledConductor, planner }: Pool, { simulated }: Workers): Promise<Contestants | undefined> {
  const planners = simulated
    ? [SIMULATED_CONDUCTOR]
    : workers.filter(({ worker }) => !worker.agent).map(({ worker }) => worker.id);
  if (bundledConductor && !planners.includes(bundledConductor.id)) planners.push(bundledConductor.id);
  const first = simulated ? SIMULATED_CONDUCTOR : planner?.worker.id;
  const chosen = await vscode.window.showQuickPick<Choice<{ readonly contestant: ContestantName } | { readonly planner: string }>>([
    ...OFFERED.map((contestant) => ({ value: { contestant }, label: contestant, description: wordsOf(contestant), picked: USUAL_CONTESTANTS.includes(contestant) })),
    ...planners.map((id) => ({ value: { planner: id }, label: `conductor:${id}`, description: vscode.l10n.t('it writes a plan for each task'), picked: id === first })),
  ], { title: title(), placeHolder: vscode.l10n.t('Which ways to answer are compared?'), canPickMany: true, matchOnDescription: true, ignoreFocusOut: true });
  if (chosen === undefined || chosen.length === 0) return undefined;
  return {
    contestants: chosen.flatMap(({ value }) => ('contestant' in value ? [value.contestant] : [])),
    planners: chosen.flatMap(({ value }) => ('planner' in value ? [value.planner] : [])),
  };
}

/** Routers are left to the command line: they need tasks to learn from. */
const OFFERED = ['alone', 'random', 'reflection', 'majority', 'mixture', 'context', 'fusion-single', 'fusion-cascade', 'fusion-critique'] as const satisfies readonly ContestantName[];

function wordsOf(contestant: (typeof OFFERED)[number]): string {
  switch (contestant) {
    case 'alone': return vscode.l10n.t('each worker by itself');
    case 'random': return vscode.l10n.t('random valid plans');
    case 'reflection': return vscode.l10n.t('the best worker, five turns of self-reflection');
    case 'majority': return vscode.l10n.t('the best worker, a vote of five answers');
    case 'mixture': return vscode.l10n.t('all workers answer, the best one reads all answers');
    case 'context': return vscode.l10n.t('the best worker with five times the output limit');
    case 'fusion-single': return vscode.l10n.t('the pattern of one model of GitHub Copilot Fusion');
    case 'fusion-cascade': return vscode.l10n.t('Fusion\'s cascade: the cheapest worker drafts, the best one judges');
    case 'fusion-critique': return vscode.l10n.t('Fusion\'s critique: the best worker drafts, others review, it revises');
  }
}

/** Shows how much is evaluated until the person starts. */
async function chooseExtent(isSimulated: boolean): Promise<Extent | undefined> {
  let extent = FIRST_EXTENT;
  for (;;) {
    const { limit = 0, seeds, rounds, attempts, budget } = extent;
    const chosen = await vscode.window.showQuickPick<Choice<'go' | 'limit' | 'seeds' | 'rounds' | 'attempts' | 'usd'>>([
      { value: 'go', label: `$(play) ${vscode.l10n.t('Estimate the cost')}`, detail: vscode.l10n.t('Nothing is paid before you agree.') },
      { value: 'limit', label: vscode.l10n.t('Tasks of each source: at most {0}', limit) },
      { value: 'seeds', label: vscode.l10n.t('Repeats (seeds): {0}', seeds) },
      { value: 'rounds', label: vscode.l10n.t('Rounds of Conductors: {0}', rounds) },
      { value: 'attempts', label: vscode.l10n.t('Attempts of Conductors: {0}', attempts) },
      ...(isSimulated ? [] : [{ value: 'usd' as const, label: vscode.l10n.t('Budget: {0}', formatUsd(budget.usd)) }]),
    ], { title: title(), placeHolder: vscode.l10n.t('How much is evaluated?'), ignoreFocusOut: true });
    if (chosen === undefined) return undefined;
    const { value } = chosen;
    if (value === 'go') return extent;
    if (value === 'usd') {
      const usd = await askUsd(budget.usd);
      if (usd !== undefined) extent = { ...extent, budget: budgetOf(usd) };
    } else {
      const count = await askCount(chosen.label, extent[value] ?? 0, MOST[value]);
      if (count !== undefined) extent = { ...extent, [value]: count };
    }
  }
}

const MOST = { limit: 100_000, seeds: 100, rounds: 6, attempts: 5 } as const;

function budgetOf(usd: number): AskedEvaluation['budget'] {
  return { usd, tokens: Math.max(1, Math.round(usd * TOKENS_PER_USD)) };
}

async function askCount(prompt: string, value: number, most: number): Promise<number | undefined> {
  const isCount = (text: string): boolean => /^\d+$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= most;
  const text = await vscode.window.showInputBox({
    title: title(), prompt, value: String(value), ignoreFocusOut: true,
    validateInput: (typed) => (isCount(typed) ? undefined : vscode.l10n.t('Enter a whole number from 1 to {0}.', most)),
  });
  return text === undefined ? undefined : Number(text);
}

/** @returns undefined if the user cancels */
export async function askUsd(usd: number): Promise<number | undefined> {
  const text = await vscode.window.showInputBox({
    title: title(), prompt: vscode.l10n.t('Maximum cost of the evaluation in all, in dollars'), value: String(usd), ignoreFocusOut: true,
    validateInput: (value) => (amountOf(value) === undefined ? vscode.l10n.t('Enter an amount of dollars above 0, such as 2.50.') : undefined),
  });
  return text === undefined ? undefined : amountOf(text);
}

async function isAgreed(offer: EvaluationOffer, { budget, simulated }: Pick<AskedEvaluation, 'budget' | 'simulated'>): Promise<boolean> {
  const start = vscode.l10n.t('Start');
  const asked = offer.simulated
    ? vscode.l10n.t('Evaluate with simulated workers, about {0} calls?', offer.calls)
    : vscode.l10n.t('Evaluate for about {0}, and at most {1}?', formatUsd(offer.usd), formatUsd(budget.usd));
  const detail = [
    offer.tasks.map(({ name, tasks }) => (tasks === 1 ? vscode.l10n.t('{0}: 1 task', name) : vscode.l10n.t('{0}: {1} tasks', name, tasks))).join(', '),
    vscode.l10n.t('Workers: {0}. About {1} calls.', offer.pool.join(', '), offer.calls),
    ...(offer.simulated || simulated ? [vscode.l10n.t('They are simulated: the figures show nothing about real models.')] : []),
    ...(offer.unpriced.length > 0 ? [vscode.l10n.t('No known price: {0}. The dollars do not include their calls.', offer.unpriced.join(', '))] : []),
    ...(offer.before.calls > 0 ? [vscode.l10n.t('{0} calls for {1} were paid before; their answers are not paid for again.', offer.before.calls, formatUsd(offer.before.usd))] : []),
    vscode.l10n.t('It goes on when this window closes, and can be stopped at any time.'),
  ].join('\n\n');
  return (await vscode.window.showInformationMessage(asked, { modal: true, detail: plainMessage(detail) }, start)) === start;
}

/** `Conductor: Open Evaluation`: those that are kept, from VS Code and from the terminal, or any folder of results. @returns its folder */
export async function chooseEvaluation(connection: Pick<BackendConnection, 'request'>): Promise<string | undefined> {
  const { evaluations } = await connection.request('evaluation/list', {});
  const chosen = await vscode.window.showQuickPick<Choice<string>>([
    ...evaluations.map(({ folder, sources, startedAt, done, all, simulated, state }) => ({
      value: folder,
      label: sources.join(', '),
      description: [new Date(startedAt).toLocaleString(vscode.env.language), vscode.l10n.t('{0} of {1} answers', done, all), ...(simulated ? [vscode.l10n.t('simulated')] : [])].join(' · '),
      iconPath: new vscode.ThemeIcon(state === 'over' ? 'pass' : ['preparing', 'running', 'waiting', 'elsewhere'].includes(state) ? 'loading~spin' : 'circle-slash'),
    })),
    { value: '', label: vscode.l10n.t('Choose a folder…'), detail: vscode.l10n.t('One that conductor eval wrote with --out.') },
  ], { title: vscode.l10n.t('Conductor: Open Evaluation'), placeHolder: vscode.l10n.t('Evaluations, newest first') });
  if (chosen === undefined || chosen.value !== '') return chosen?.value;
  const [folder] = (await vscode.window.showOpenDialog({ canSelectFiles: false, canSelectFolders: true, openLabel: vscode.l10n.t('Open Evaluation') })) ?? [];
  return folder && path.normalize(folder.fsPath);
}
