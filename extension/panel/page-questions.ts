import type { PageQuestion, PageReplies } from '../../backend/protocol/panel-messages.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import type { RunCommands } from '../runs/run-commands.ts';
import type { RunList } from '../runs/run-list.ts';

export interface PageQuestionOptions {
  readonly connection: Pick<BackendConnection, 'request'>;
  readonly list: Pick<RunList, 'find'>;
  readonly runCommands: Pick<RunCommands, 'remove' | 'approvePlan' | 'replan' | 'decideFailedBefore' | 'takeBackLeftOut'>;
}

/** Answers the page's queries for details that are loaded on demand. @throws an error with a sentence that the page shows */
export async function replyTo(
  question: PageQuestion, { connection, list, runCommands }: PageQuestionOptions,
): Promise<PageReplies[PageQuestion['type']]> {
  switch (question.type) {
    case 'stepPrompt': {
      const { runId, round, step } = question;
      return (await connection.request('run/prompt', { runId, round, step })).messages;
    }
    case 'planEstimate': {
      const { runId, round, plan } = question;
      return (await connection.request('run/estimatePlan', { runId, round, plan })).estimate;
    }
    case 'approvePlan': {
      const { type: _type, ask: _ask, ...decision } = question;
      await runCommands.approvePlan(decision);
      return true;
    }
    case 'replan': {
      const { type: _type, ask: _ask, ...decision } = question;
      await runCommands.replan(decision);
      return true;
    }
    case 'decideFailedBefore': {
      const { type: _type, ask: _ask, ...decision } = question;
      await runCommands.decideFailedBefore(decision);
      return true;
    }
    case 'takeBackLeftOut':
      await runCommands.takeBackLeftOut(question.runId);
      return true;
    case 'findRuns':
      return list.find(question.search);
    case 'removeRun':
      return runCommands.remove(question.runId);
  }
}
