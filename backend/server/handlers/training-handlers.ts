import type { ClientRequests } from '../../protocol/methods.ts';
import { trainingSummaryOf } from '../../protocol/training.ts';
import type { RequestHandler, RequestHandlers } from '../../protocol/typed-connection.ts';
import type { TrainingManager } from '../../train/trainings/training-manager.ts';
import type { TrainingFeed } from '../training-feed.ts';

type TrainingMethods = Extract<keyof ClientRequests, `training/${string}`>;

export type TrainingService = Pick<
  TrainingManager,
  'opened' | 'check' | 'start' | 'list' | 'get' | 'tasks' | 'rollout' | 'pause' | 'resume' | 'finish' | 'cancel' | 'adopt' | 'goBack' | 'remove' | 'listen' | 'listenForRemovals' | 'active'
>;

export function trainingHandlers(
  trainings: TrainingService, feed: Pick<TrainingFeed, 'subscribe' | 'unsubscribe'>,
): RequestHandlers<ClientRequests, TrainingMethods> {
  /** Who asks when the backend has just begun is not told that there is nothing. */
  const once = <K extends TrainingMethods>(handler: RequestHandler<ClientRequests, K>): RequestHandler<ClientRequests, K> =>
    async (params, call) => {
      await trainings.opened;
      return handler(params, call);
    };
  return {
    'training/check': (request) => trainings.check(request),
    'training/start': once(({ workspace, config }) => trainings.start({ workspace, config })),
    'training/list': once(({ workspace }) => ({ trainings: trainings.list(workspace).map(trainingSummaryOf) })),
    'training/get': once(({ trainingId }) => trainings.get(trainingId)),
    'training/subscribe': once(({ trainingId }, { afterReply }) => feed.subscribe(trainingId, afterReply)),
    'training/unsubscribe': ({ trainingId }) => {
      feed.unsubscribe(trainingId);
      return {};
    },
    'training/tasks': once(({ trainingId, offset, limit }) => trainings.tasks(trainingId, { offset, limit })),
    'training/rollout': once(({ trainingId, runId }) => trainings.rollout(trainingId, runId)),
    'training/pause': once(async ({ trainingId }) => {
      await trainings.pause(trainingId);
      return {};
    }),
    'training/resume': once(async ({ trainingId, budget }) => {
      await trainings.resume(trainingId, budget);
      return {};
    }),
    'training/finish': once(async ({ trainingId }) => {
      await trainings.finish(trainingId);
      return {};
    }),
    'training/cancel': once(async ({ trainingId }) => {
      await trainings.cancel(trainingId);
      return {};
    }),
    'training/adopt': once(({ trainingId }) => trainings.adopt(trainingId)),
    'training/goBack': once(({ trainingId }) => trainings.goBack(trainingId)),
    'training/remove': once(async ({ trainingId }) => {
      await trainings.remove(trainingId);
      return {};
    }),
  };
}
