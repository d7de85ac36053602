import type { ClientRequests } from '../../protocol/methods.ts';
import type { RequestHandlers } from '../../protocol/typed-connection.ts';
import type { TrainingManager } from '../../train/training-manager.ts';

type TrainingMethods = Extract<keyof ClientRequests, `training/${string}`>;

export type TrainingService = Pick<
  TrainingManager, 'start' | 'list' | 'get' | 'pause' | 'resume' | 'cancel' | 'adopt' | 'goBack' | 'listen' | 'active'
>;

export function trainingHandlers(trainings: TrainingService): RequestHandlers<ClientRequests, TrainingMethods> {
  return {
    'training/start': (request) => trainings.start(request),
    'training/list': ({ workspace }) => ({ trainings: [...trainings.list(workspace)] }),
    'training/get': ({ trainingId }) => trainings.get(trainingId),
    'training/pause': async ({ trainingId }) => {
      await trainings.pause(trainingId);
      return {};
    },
    'training/resume': async ({ trainingId, maxUsd }) => {
      await trainings.resume(trainingId, maxUsd);
      return {};
    },
    'training/cancel': async ({ trainingId }) => {
      await trainings.cancel(trainingId);
      return {};
    },
    'training/adopt': ({ trainingId }) => trainings.adopt(trainingId),
    'training/goBack': ({ trainingId }) => trainings.goBack(trainingId),
  };
}
