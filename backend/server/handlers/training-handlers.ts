import type { ClientRequests } from '../../protocol/methods.ts';
import { trainingSummaryOf } from '../../protocol/training.ts';
import type { RequestHandler, RequestHandlers } from '../../protocol/typed-connection.ts';
import type { TrainingManager } from '../../train/trainings/training-manager.ts';
import type { TrainingFeed } from '../training-feed.ts';

type TrainingMethods = Extract<keyof ClientRequests, `training/${string}`>;

export type TrainingService = Pick<
  TrainingManager,
  'opened' | 'check' | 'start' | 'checkOutcomes' | 'learn' | 'list' | 'get' | 'tasks' | 'rollout' | 'pause' | 'resume' | 'finish' | 'cancel' | 'adopt' | 'goBack' | 'remove' | 'listen' | 'listenForRemovals' | 'active'
>;

export function trainingHandlers(
  trainings: TrainingService, feed: Pick<TrainingFeed, 'subscribe' | 'unsubscribe'>,
): RequestHandlers<ClientRequests, TrainingMethods> {
  /** Waits until earlier trainings are read, so that a request right after the start does not find an empty list. */
  const whenOpened = <K extends TrainingMethods>(handler: RequestHandler<ClientRequests, K>): RequestHandler<ClientRequests, K> =>
    async (params, call) => {
      await trainings.opened;
      return handler(params, call);
    };
  return {
    'training/check': (request) => trainings.check(request),
    'training/start': whenOpened(({ workspace, config }) => trainings.start({ workspace, config })),
    'training/outcomes': whenOpened(({ workspace }) => trainings.checkOutcomes(workspace)),
    'training/learn': whenOpened(({ workspace }) => trainings.learn(workspace)),
    'training/list': whenOpened(({ workspace }) => ({ trainings: trainings.list(workspace).map(trainingSummaryOf) })),
    'training/get': whenOpened(({ trainingId }) => trainings.get(trainingId)),
    'training/subscribe': whenOpened(({ trainingId }, { afterReply }) => feed.subscribe(trainingId, afterReply)),
    'training/unsubscribe': ({ trainingId }) => {
      feed.unsubscribe(trainingId);
      return {};
    },
    'training/tasks': whenOpened(({ trainingId, offset, limit }) => trainings.tasks(trainingId, { offset, limit })),
    'training/rollout': whenOpened(({ trainingId, runId }) => trainings.rollout(trainingId, runId)),
    'training/pause': whenOpened(async ({ trainingId }) => {
      await trainings.pause(trainingId);
      return {};
    }),
    'training/resume': whenOpened(async ({ trainingId, budget }) => {
      await trainings.resume(trainingId, budget);
      return {};
    }),
    'training/finish': whenOpened(async ({ trainingId }) => {
      await trainings.finish(trainingId);
      return {};
    }),
    'training/cancel': whenOpened(async ({ trainingId }) => {
      await trainings.cancel(trainingId);
      return {};
    }),
    'training/adopt': whenOpened(({ trainingId }) => trainings.adopt(trainingId)),
    'training/goBack': whenOpened(({ trainingId }) => trainings.goBack(trainingId)),
    'training/remove': whenOpened(async ({ trainingId }) => {
      await trainings.remove(trainingId);
      return {};
    }),
  };
}
