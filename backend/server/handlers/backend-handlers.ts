import { ERROR_CODES, type ClientRequests, type Health, type HealthDetails } from '../../protocol/methods.ts';
import { RequestError } from '../../protocol/request-error.ts';
import type { RequestHandlers } from '../../protocol/typed-connection.ts';
import type { RunService } from '../../solve/run-service.ts';

export interface BackendDependencies {
  /** Waits for all checks. */
  readonly health: () => Promise<Health>;
  /** Waits for all checks and looks at the current state. */
  readonly healthDetails: (signal: AbortSignal) => Promise<HealthDetails>;
  readonly otherClients: () => number;
  readonly runs: Pick<RunService, 'activeRuns'>;
  readonly stop: () => void;
}

export function backendHandlers(
  { health, healthDetails, otherClients, runs, stop }: BackendDependencies,
): RequestHandlers<ClientRequests, 'backend/health' | 'backend/healthDetails' | 'backend/stop'> {
  return {
    'backend/health': () => health(),
    'backend/healthDetails': (_params, { signal }) => healthDetails(signal),
    'backend/stop': ({ ifIdle }, { afterReply }) => {
      const needed = ifIdle && whyNeeded(runs.activeRuns, otherClients());
      if (needed) throw new RequestError({ code: ERROR_CODES.refused, kind: 'needed', message: needed });
      afterReply(stop);
      return {};
    },
  };
}

function whyNeeded(runs: number, clients: number): string | undefined {
  if (runs > 0) return `The running backend has ${runs === 1 ? 'a run' : `${runs} runs`} under way.`;
  if (clients > 0) return `The running backend has ${clients === 1 ? 'another client' : `${clients} other clients`}.`;
  return undefined;
}
