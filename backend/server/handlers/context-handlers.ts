import type { ClientRequests } from '../../protocol/methods.ts';
import type { RequestHandlers } from '../../protocol/typed-connection.ts';
import type { RunService } from '../../solve/run-service.ts';

export function contextHandlers(runs: Pick<RunService, 'previewContext'>): RequestHandlers<ClientRequests, 'context/preview'> {
  return {
    'context/preview': async ({ request }, { signal }) => {
      const { pieces, leftOut, ...rest } = await runs.previewContext(request, signal);
      return { ...rest, pieces: [...pieces], leftOut: [...leftOut] };
    },
  };
}
