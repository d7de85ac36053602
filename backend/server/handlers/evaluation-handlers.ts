import type { EvaluationManager } from '../../eval/evaluations/evaluation-manager.ts';
import type { BackendNotifications, ClientRequests } from '../../protocol/methods.ts';
import type { RequestHandlers } from '../../protocol/typed-connection.ts';
import type * as z from 'zod';

type EvaluationMethods = Extract<keyof ClientRequests, `evaluation/${string}`>;

export type EvaluationService = Pick<EvaluationManager, 'estimate' | 'start' | 'resume' | 'stop' | 'list' | 'get' | 'samples' | 'sample' | 'remove' | 'listen' | 'listenForRemovals' | 'active'>;

export function evaluationHandlers(
  evaluations: EvaluationService, tellPreparing: (told: z.output<BackendNotifications['evaluation/preparing']>) => void,
): RequestHandlers<ClientRequests, EvaluationMethods> {
  return {
    'evaluation/estimate': (request, { signal }) => evaluations.estimate(request, { signal, onPreparing: tellPreparing }),
    'evaluation/start': (request) => evaluations.start(request),
    'evaluation/list': async () => ({ evaluations: await evaluations.list() }),
    'evaluation/get': ({ folder }) => evaluations.get(folder),
    'evaluation/samples': ({ folder, ...choice }) => evaluations.samples(folder, choice),
    'evaluation/sample': ({ folder, ...sample }) => evaluations.sample(folder, sample),
    'evaluation/stop': async ({ folder }) => {
      await evaluations.stop(folder);
      return {};
    },
    'evaluation/resume': async ({ folder, budget }) => {
      await evaluations.resume(folder, budget);
      return {};
    },
    'evaluation/remove': async ({ folder }) => {
      await evaluations.remove(folder);
      return {};
    },
  };
}
