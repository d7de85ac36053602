import * as vscode from 'vscode';
import { unpricedTokensFor } from '../../backend/protocol/budget-limits.ts';
import { formatTokens, formatUsd } from '../../backend/protocol/figures.ts';
import { mostComparedPlans, mostPlans } from '../../backend/protocol/training-facts.ts';
import type { TrainingCheck, TrainingConfig, TrainingSummary } from '../../backend/protocol/training.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { chooseFolder } from '../common/looking-at.ts';
import { NextStepError, openFolderStep } from '../common/next-step.ts';
import { plainMessage } from '../common/plain-message.ts';
import { readSettings } from '../common/settings.ts';
import { readTestSettings } from '../common/test-settings.ts';
import { askBudget } from './training-budget.ts';
import type { TrainingCommands } from './training-commands.ts';
import { createTrainingConfig, readTrainingConfig, TRAINING_CONFIG_FILE, TrainingConfigError, withRounds, withTests, type ProjectTrainingConfig } from './training-config.ts';
import { isUnderWay, type Trainings } from './trainings.ts';

export interface FineTuneOptions {
  readonly connection: Pick<BackendConnection, 'request'>;
  readonly trainings: Trainings;
  readonly trainingCommands: TrainingCommands;
  readonly chooseModel: () => Promise<string | undefined>;
}

/** The Conductor and the workers of a training. */
type Cast = Required<Pick<TrainingCheck, 'conductor' | 'workers' | 'terms'>> & {
  /** With what the coordinator of a team tells, where the training is to join one. */
  readonly config: TrainingConfig;
  /** Who plans questions now. */
  readonly planner: string | undefined;
};

/** `Conductor: Fine-tune on Project Tests`: trains the local Conductor on the results of its own plans. */
export class FineTuneCommand {
  readonly #options: FineTuneOptions;

  constructor(options: FineTuneOptions) {
    this.#options = options;
  }

  /** @returns the id of the training on show; undefined if none was started. @throws an error with a sentence */
  async run(): Promise<string | undefined> {
    const { connection, trainingCommands } = this.#options;
    if (!(await isTrusted())) return undefined;
    const folder = await trainedFolder();
    if (folder === undefined) return undefined;
    const underWay = await this.#underWay(folder);
    if (underWay) {
      await trainingCommands.open(underWay.trainingId);
      void vscode.window.showInformationMessage(vscode.l10n.t('A training is under way in this folder: pause or cancel it before another begins.'));
      return underWay.trainingId;
    }
    const settings = await settingsOf(folder);
    if (!settings) return undefined;
    const cast = await this.#cast(folder, settings.config);
    if (!cast) return undefined;
    const agreed = await agreeOn(folder, { ...settings, config: cast.config }, cast);
    if (!agreed) return undefined;
    const { trainingId } = await connection.request('training/start', { workspace: folder, config: agreed });
    await trainingCommands.open(trainingId);
    return trainingId;
  }

  async #underWay(folder: string): Promise<TrainingSummary | undefined> {
    const trainings = await this.#options.trainings.refresh();
    return trainings.find((training) => training.workspace === folder && isUnderWay(training));
  }

  /** @returns undefined if something is missing; the user has then been told what to do */
  async #cast(folder: string, config: TrainingConfig): Promise<Cast | undefined> {
    const { connection, chooseModel } = this.#options;
    const check = (): Promise<TrainingCheck> => connection.request('training/check', { workspace: folder, config });
    let { missing, conductor, workers, terms = [], config: told = config } = await check();
    if (missing?.what === 'conductor') {
      const choose = vscode.l10n.t('Choose Conductor Model');
      const sentence = vscode.l10n.t('Training needs a Conductor on this machine: choose a model first.');
      if ((await vscode.window.showErrorMessage(sentence, choose)) !== choose || (await chooseModel()) === undefined) return undefined;
      ({ missing, conductor, workers, terms = [], config: told = config } = await check());
    }
    if (missing?.what === 'worker') {
      const add = vscode.l10n.t('Add Worker');
      const sentence = vscode.l10n.t('No worker is ready to do what is planned: add one, or set its key.');
      if ((await vscode.window.showErrorMessage(sentence, add)) === add) await vscode.commands.executeCommand('conductor.addWorker');
      return undefined;
    }
    if (missing?.what === 'tests') {
      const choose = vscode.l10n.t('Choose Test Command');
      if ((await vscode.window.showErrorMessage(plainMessage(missing.message), choose)) === choose) await vscode.commands.executeCommand('conductor.chooseTestCommand');
      return undefined;
    }
    if (missing) {
      const health = vscode.l10n.t('Show Health');
      if ((await vscode.window.showErrorMessage(plainMessage(missing.message), health)) === health) await vscode.commands.executeCommand('conductor.showHealth');
      return undefined;
    }
    if (conductor === undefined) return undefined;
    const { planner } = await connection.request('pool/get', {});
    return { conductor, workers, terms, config: told, planner: planner?.worker.id };
  }
}

/** If the workspace is not trusted, says why trust is needed and offers to manage it. */
async function isTrusted(): Promise<boolean> {
  if (vscode.workspace.isTrusted) return true;
  const manage = vscode.l10n.t('Manage Trust');
  const detail = vscode.l10n.t('Training changes copies of the workspace and runs its tests many times. Trust the workspace first.');
  const options = { modal: true, detail };
  if ((await vscode.window.showWarningMessage(vscode.l10n.t('This workspace is not trusted.'), options, manage)) === manage) {
    await vscode.commands.executeCommand('workbench.trust.manage');
  }
  return false;
}

async function trainedFolder(): Promise<string | undefined> {
  const choice = await chooseFolder(vscode.l10n.t('On which folder\'s tests does the Conductor learn?'));
  if (choice.kind === 'none') {
    throw new NextStepError(vscode.l10n.t('Open a folder first: the Conductor learns from the tests of a project.'), openFolderStep());
  }
  return choice.kind === 'folder' ? choice.folder.uri.fsPath : undefined;
}

/** @returns undefined if the folder's file is invalid; the user has then been told why */
async function settingsOf(folder: string): Promise<ProjectTrainingConfig | undefined> {
  try {
    const { config, isFromFile } = await readTrainingConfig(folder);
    const tested = withTests(config, readTestSettings(vscode.Uri.file(folder)));
    return { config: withRounds(tested, readSettings(vscode.Uri.file(folder)).rounds), isFromFile };
  } catch (error) {
    if (!(error instanceof TrainingConfigError)) throw error;
    const open = vscode.l10n.t('Open File');
    if ((await vscode.window.showErrorMessage(plainMessage(error.message), open)) === open) await vscode.window.showTextDocument(vscode.Uri.file(error.file));
    return undefined;
  }
}

/**
 * Shows the number of calls and the maximum cost for confirmation. @returns the configuration to start with; undefined if the user cancels
 */
async function agreeOn(folder: string, { config, isFromFile }: ProjectTrainingConfig, cast: Cast): Promise<TrainingConfig | undefined> {
  const begin = vscode.l10n.t('Begin');
  const change = vscode.l10n.t('Change Budget…');
  const edit = vscode.l10n.t('Edit Settings…');
  let agreed = config;
  for (;;) {
    const title = vscode.l10n.t('Train "{0}" for at most {1}?', cast.conductor, formatUsd(agreed.budget.usd));
    const picked = await vscode.window.showInformationMessage(title, { modal: true, detail: detailOf(agreed, cast, isFromFile) }, begin, change, edit);
    if (picked === begin) return agreed;
    if (picked === edit) await editSettings(folder, agreed);
    if (picked !== change) return undefined;
    const usd = await askBudget({ title: vscode.l10n.t('Conductor: Fine-tune on Project Tests'), usd: agreed.budget.usd });
    if (usd !== undefined) agreed = { ...agreed, budget: { ...agreed.budget, usd } };
  }
}

/** @param config written if the folder has no settings file */
async function editSettings(folder: string, config: TrainingConfig): Promise<void> {
  await vscode.window.showTextDocument(vscode.Uri.file(await createTrainingConfig(folder, config)));
  const command = vscode.l10n.t('Conductor: Fine-tune on Project Tests');
  void vscode.window.showInformationMessage(vscode.l10n.t('Save the settings when you are done, and run "{0}" again.', command));
}

function detailOf(config: TrainingConfig, { workers, terms, conductor, planner }: Cast, isFromFile: boolean): string {
  const unpriced = workers.filter(({ priced }) => !priced).map(({ id }) => id);
  const rollouts = mostPlans(config).toLocaleString(vscode.env.language);
  const spends = vscode.l10n.t(
    'Your workers ({0}) carry out up to {1} plans, and {2} more for each held-out task. The budget is hard: at {3} the training pauses.',
    workers.map(({ id }) => id).join(', '), rollouts, mostComparedPlans(config), formatUsd(config.budget.usd),
  );
  return [
    spends,
    ...terms.map(plainMessage),
    ...(unpriced.length > 0 ? [vscode.l10n.t(
      'No known price: {0}. For their calls, the training pauses at {1} tokens.', unpriced.join(', '), formatTokens(unpricedTokensFor(config.budget.usd)),
    )] : []),
    ...(workers.some(({ simulated }) => simulated) ? [vscode.l10n.t('Some of these workers are simulated: what is learned from them says nothing about real ones.')] : []),
    ...(isFromFile ? [vscode.l10n.t('The settings come from {0}.', TRAINING_CONFIG_FILE)] : []),
    planner === undefined || planner === conductor
      ? vscode.l10n.t('The Conductor plans as before until you adopt what was trained, and you can go back.')
      : vscode.l10n.t('{0} plans your questions until you adopt what {1} learned, and you can go back.', planner, conductor),
  ].join('\n\n');
}
