import type { ClientRequests } from '../../protocol/methods.ts';
import type { RequestHandlers } from '../../protocol/typed-connection.ts';
import type { RunService } from '../../solve/run-service.ts';

type LeftOutMethods = Extract<keyof ClientRequests, `leftOut/${string}`>;

export function leftOutHandlers(runs: Pick<RunService, 'leftOutTests' | 'takeBackLeftOut'>): RequestHandlers<ClientRequests, LeftOutMethods> {
  return {
    'leftOut/get': ({ workspace }) => ({ tests: [...runs.leftOutTests(workspace)] }),
    'leftOut/takeBack': ({ workspace, tests }) => ({ tests: runs.takeBackLeftOut(workspace, tests) }),
  };
}
