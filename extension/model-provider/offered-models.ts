import * as vscode from 'vscode';
import { CONDUCTOR_MODEL } from '../../backend/protocol/conversation.ts';
import { formatUsd } from '../../backend/protocol/figures.ts';
import type { Pool, WorkerStatus } from '../../backend/protocol/methods.ts';
import { plannerReason } from '../../backend/protocol/planner-words.ts';
import { priceWords } from '../../backend/protocol/price-words.ts';
import { factsOf } from '../../backend/protocol/providers.ts';
import { VENDOR } from '../common/vendor.ts';

/** A model as VS Code lists it, such as `Conductor` and each worker by its name. */
export interface OfferedModel extends vscode.LanguageModelChatInformation {
  /** Not part of the stable interface. Without it some lists of VS Code leave a model out, such as that of models for MCP servers. */
  readonly isUserSelectable: true;
}

/** A step of the plan for the person's last message. */
export interface PlannedStep {
  readonly worker: string;
  readonly subtask: string;
}

/**
 * What a model is taken to hold where nobody says how much. Agents refuse to work with a model that holds less than their instructions and
 * tools; one that holds less than is said here fails with a sentence, and another worker takes over.
 */
const CONTEXT_TOKENS = 128_000;
/** Of the models that Conductor runs itself. */
const LOCAL_CONTEXT_TOKENS = 32_768;
const VERSION = '1';

/** What is known of a worker. Without the backend that is what workers.json says. */
type KnownWorker = Pick<WorkerStatus, 'worker'> & Partial<WorkerStatus>;

export type KnownPool = Pick<Pool, 'planner' | 'runUsd'> & { readonly workers: readonly KnownWorker[] };

/** `Conductor` first, then the enabled workers. Empty without one. */
export function offeredModels({ workers, planner, runUsd }: KnownPool, plan: readonly PlannedStep[] = []): OfferedModel[] {
  const enabled = workers.filter(({ worker }) => worker.enabled);
  if (enabled.length === 0) return [];
  const conductor: OfferedModel = {
    id: CONDUCTOR_MODEL,
    name: 'Conductor',
    family: VENDOR,
    version: VERSION,
    detail: enabled.length === 1 ? vscode.l10n.t('1 worker') : vscode.l10n.t('{0} workers', enabled.length),
    tooltip: conductorTooltip(enabled, planner, runUsd, plan),
    // A conversation that is too long for one worker is given to another one.
    maxInputTokens: Math.max(...enabled.map(inputTokensOf)),
    maxOutputTokens: Math.max(...enabled.map(({ worker }) => worker.maxOutputTokens)),
    capabilities: { toolCalling: enabled.some(takesTools), imageInput: false },
    isUserSelectable: true,
  };
  // The name of a worker is never that of the model that plans.
  return [conductor, ...enabled.filter(({ worker }) => worker.id !== CONDUCTOR_MODEL).map(workerModel)];
}

function workerModel(status: KnownWorker): OfferedModel {
  const { worker, price, priced } = status;
  const { label } = factsOf(worker.provider);
  return {
    id: worker.id,
    name: worker.id,
    family: worker.model,
    version: VERSION,
    detail: worker.simulated ? vscode.l10n.t('simulated') : label,
    tooltip: [
      vscode.l10n.t('{0} at {1}, without a plan, in the budgets and the journal of Conductor.', worker.model, label),
      ...(worker.description === undefined ? [] : [worker.description]),
      ...(price ? [vscode.l10n.t('Price: {0}.', priceWords(price))] : priced === false ? [vscode.l10n.t('Its price is not known.')] : []),
      ...(takesTools(status) ? [] : [vscode.l10n.t('It takes no tool calls.')]),
    ].join('\n\n'),
    maxInputTokens: inputTokensOf(status),
    maxOutputTokens: worker.maxOutputTokens,
    capabilities: { toolCalling: takesTools(status), imageInput: false },
    isUserSelectable: true,
  };
}

function conductorTooltip(enabled: readonly KnownWorker[], planner: Pool['planner'], runUsd: number | undefined, plan: readonly PlannedStep[]): string {
  const names = enabled.map(({ worker }) => worker.id).join(', ');
  return [
    vscode.l10n.t('Each of your messages gets a plan across {0}. The last step answers and calls the tools.', names),
    ...(planner ? [vscode.l10n.t('{0} plans: {1}.', planner.worker.id, plannerReason(planner.choice.why))] : []),
    ...(plan.length === 0 ? [] : [`${vscode.l10n.t('The plan for your last message:')}\n\n${plan.map(({ worker, subtask }, index) => `${index + 1}. ${worker}: ${subtask}`).join('\n')}`]),
    ...(runUsd === undefined ? [] : [vscode.l10n.t('A message may cost up to {0}, the limit of a run.', formatUsd(runUsd))]),
  ].join('\n\n');
}

/** Only servers are asked with tools: the others have no form for them. */
const takesTools = ({ worker }: KnownWorker): boolean => factsOf(worker.provider).reach === 'server';

/** Half at least, because what a worker may write at most is seldom written. */
function inputTokensOf({ worker, contextTokens }: KnownWorker): number {
  const holds = contextTokens ?? (factsOf(worker.provider).reach === 'process' ? LOCAL_CONTEXT_TOKENS : CONTEXT_TOKENS);
  return Math.max(Math.floor(holds / 2), holds - worker.maxOutputTokens);
}
