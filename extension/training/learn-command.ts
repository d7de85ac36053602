import * as vscode from 'vscode';
import type { BackendConnection } from '../common/backend-connection.ts';
import { plainMessage } from '../common/plain-message.ts';
import { requireTrust } from '../common/require-trust.ts';
import type { LearningOffer } from './learning-offer.ts';
import type { TrainingCommands } from './training-commands.ts';
import { isUnderWay, type Trainings } from './trainings.ts';

export interface LearnOptions {
  readonly connection: Pick<BackendConnection, 'request'>;
  readonly trainings: Trainings;
  readonly trainingCommands: Pick<TrainingCommands, 'open'>;
  readonly offer: Pick<LearningOffer, 'decline'>;
}

/** `Conductor: Learn from Outcomes`: the local Conductor learns from what tests said of earlier plans. Nobody is paid. */
export class LearnCommand {
  readonly #options: LearnOptions;

  constructor(options: LearnOptions) {
    this.#options = options;
  }

  /** @returns the id of the training on show; undefined if there is too little to learn from. @throws an error with a sentence */
  async run(): Promise<string | undefined> {
    const { connection, trainings, trainingCommands, offer } = this.#options;
    requireTrust('');
    const underWay = (await trainings.refresh()).find(isUnderWay);
    if (underWay) {
      await trainingCommands.open(underWay.trainingId);
      void vscode.window.showInformationMessage(vscode.l10n.t('A training is under way: pause or cancel it before another begins.'));
      return underWay.trainingId;
    }
    const { missing } = await connection.request('training/outcomes', {});
    if (missing !== undefined) {
      void vscode.window.showInformationMessage(plainMessage(missing));
      return undefined;
    }
    const { trainingId } = await connection.request('training/learn', {});
    // What is learned from now need not be offered.
    offer.decline();
    await trainingCommands.open(trainingId);
    return trainingId;
  }
}
