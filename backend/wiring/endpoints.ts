import { RPC_CODES, RequestError } from '../protocol/request-error.ts';
import type { WorkersFile } from '../protocol/worker-config.ts';
import type { ConversationService } from '../converse/converser.ts';
import { explainError } from '../server/explain-error.ts';
import type { EndpointService } from '../server/handlers/serve-handlers.ts';

export interface EndpointParts {
  /** Conductor's folder, absolute. */
  readonly home: string;
  readonly conversations: ConversationService;
  readonly loadWorkers: () => Promise<WorkersFile>;
  /** Converts errors that `explainError` does not know. */
  readonly explain: (error: unknown) => RequestError | undefined;
  readonly log: (line: string) => void;
}

/**
 * The endpoint for other programs, in the backend's own process: a request passes through no other one. What it needs is loaded when the first one
 * is opened.
 */
export function endpoints({ home, conversations, loadWorkers, explain, log }: EndpointParts): EndpointService {
  const explained = (error: unknown): RequestError => {
    const known = error instanceof RequestError ? error : explainError(error) ?? explain(error);
    if (known) return known;
    log(`A request of a program failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return new RequestError({ code: RPC_CODES.internalError, kind: 'internal', message: 'The request could not be answered because of a fault in Conductor; its log says which.' });
  };
  return {
    open: async (port, say) => {
      const [{ openEndpoint }, { ClientKeys }, { GivenItems }] = await Promise.all([import('../serve/endpoint.ts'), import('../serve/client-keys.ts'), import('../serve/given-items.ts')]);
      const keys = new ClientKeys(home);
      return await openEndpoint({
        keys, port, log: say, given: new GivenItems({ home, keys }), givenResponses: new GivenItems({ home, keys, folder: 'given-responses' }),
        backend: {
          workers: () => loadWorkers().then(({ workers }) => workers, (error: unknown) => { throw explained(error); }),
          count: (told) => conversations.count(told),
          turn: (asked, options) => conversations.turn(asked, options).catch((error: unknown) => { throw explained(error); }),
        },
      });
    },
  };
}
