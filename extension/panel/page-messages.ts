import type { PageCommand } from '../../backend/protocol/panel-messages.ts';
import type { AnswerReview } from '../runs/answer-review.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import type { PanelStateSource } from './panel-state.ts';
import type { RunCommands } from '../runs/run-commands.ts';
import type { StepCommands } from '../runs/step-commands.ts';
import type { Continued, SolveCommand } from '../runs/solve-command.ts';
import type { LearningOffer } from '../training/learning-offer.ts';
import type { TrainingCommands } from '../training/training-commands.ts';
import type { TrainingDetails } from '../training/training-details.ts';

export interface PageMessageOptions {
  readonly connection: Pick<BackendConnection, 'client' | 'request'>;
  readonly panel: Pick<PanelStateSource, 'draft' | 'ask' | 'forgetProblem'>;
  readonly solve: Pick<SolveCommand, 'solve' | 'preview'>;
  readonly runCommands: Pick<
    RunCommands, 'cancel' | 'resume' | 'retryStep' | 'again' | 'exportRun' | 'open' | 'openFolder' | 'runOf' | 'copyAnswer' | 'insertAnswer'
  >;
  readonly stepCommands: Pick<StepCommands, 'stop' | 'tell' | 'showChange'>;
  readonly trainingCommands: Pick<TrainingCommands, 'act'>;
  readonly trainingDetails: Pick<TrainingDetails, 'showTasks' | 'showRollout'>;
  readonly review: Pick<AnswerReview, 'show' | 'undo'>;
  /** Shows a file of the open run's folder. */
  readonly openFile: (path: string, line: number | undefined) => Promise<void>;
  /** Runs a command of VS Code or of this extension. */
  readonly runCommand: (id: string, argument?: string) => Promise<void>;
  /** Changes the setting. */
  readonly setLocalFirst: (on: boolean) => Promise<void>;
  readonly learning: Pick<LearningOffer, 'decline'>;
}

/** Performs the page's request. @throws an error with a sentence that the page shows */
export async function actOn(message: PageCommand, options: PageMessageOptions): Promise<void> {
  const { connection, panel, solve, runCommands, stepCommands, trainingCommands, trainingDetails, review, openFile, runCommand, setLocalFirst, learning } = options;
  if (message.type !== 'ready') panel.forgetProblem();
  switch (message.type) {
    case 'ready':
    case 'retryBackend':
      // The state that the page shows includes the result.
      await connection.client().catch(() => undefined);
      return;
    case 'solve': {
      const { question, continues, attempts, atOnce, pictures } = message;
      const alreadyShown = continues === undefined && panel.draft?.question === question && panel.draft.preview !== undefined;
      await solve.solve(question, alreadyShown ? false : undefined, { ...(await continued(continues, runCommands)), attempts, atOnce, pictures });
      return;
    }
    case 'previewContext':
      return solve.preview(message.question);
    case 'setLocalFirst':
      return setLocalFirst(message.on);
    case 'newQuestion':
      return panel.ask(message.question);
    case 'cancel':
      return runCommands.cancel(message.runId);
    case 'resume':
      return runCommands.resume(message.runId);
    case 'retryStep':
      return runCommands.retryStep(message);
    case 'stopStep':
      return stepCommands.stop(message);
    case 'tellStep':
      return stepCommands.tell(message, message.text);
    case 'showStepChange':
      return stepCommands.showChange(message);
    case 'again':
      return runCommands.again(message.runId);
    case 'exportRun':
      return runCommands.exportRun(message.runId);
    case 'open':
      await runCommands.open(message.runId);
      return;
    case 'fineTune':
      return runCommand('conductor.fineTune');
    case 'learn':
      return runCommand('conductor.learn');
    case 'declineLearning':
      return learning.decline();
    case 'training':
      return trainingCommands.act(message.action, message.trainingId);
    case 'trainingTasks':
      return trainingDetails.showTasks(message.trainingId, message.count);
    case 'rollout':
      return trainingDetails.showRollout(message.trainingId, message.runId);
    case 'apply':
      return review.show(await runCommands.runOf(message.runId));
    case 'undo':
      return review.undo(message.runId);
    case 'openFolder':
      return runCommands.openFolder(message.runId);
    case 'copy':
      return runCommands.copyAnswer(message.text);
    case 'insert':
      return runCommands.insertAnswer(message.text);
    case 'openFile':
      return openFile(message.path, message.line);
    case 'openInEditor':
      return runCommand('conductor.openPanelInEditor');
    case 'addWorker':
      return runCommand('conductor.addWorker');
    case 'chooseConductor':
      return runCommand('conductor.chooseConductor');
    case 'demonstrate':
      return runCommand('conductor.showDemonstration');
    case 'chooseModel':
      return runCommand('conductor.chooseConductorModel');
    case 'unloadModel':
      await connection.request('model/unload', { model: message.model });
      return;
    case 'chooseTests': {
      await runCommand('conductor.chooseTestCommand');
      // The state on show includes the command.
      const { draft } = panel;
      if (draft?.preview ?? draft?.problem) await solve.preview(draft.question);
      return;
    }
    case 'verifyChanges':
      return runCommand('conductor.verifyChanges');
    case 'openTestSettings':
      return runCommand('workbench.action.openSettings', 'conductor.test');
    case 'showHealth':
      return runCommand('conductor.showHealth');
    case 'dismissProblem':
      return;
    case 'manageTrust':
      return runCommand('workbench.trust.manage');
    case 'showLogs':
      return runCommand('conductor.showLogs');
  }
}

/** The run whose page the question was asked on; nothing for a new question. */
async function continued(runId: string | undefined, runCommands: Pick<RunCommands, 'runOf'>): Promise<{ continues?: Continued }> {
  if (runId === undefined) return {};
  const { request: { workspace } } = await runCommands.runOf(runId);
  return { continues: { runId, workspace } };
}
