import type { Listening } from '../../common/local-http.ts';
import type { ClientRequests } from '../../protocol/methods.ts';
import type { RequestHandlers } from '../../protocol/typed-connection.ts';

/** The endpoint for other programs, in this process. */
export interface EndpointService {
  /** @param port 0 for a free one. @param say called with what went wrong, for the person who opened it. @throws RequestError of kind `port-taken` */
  open(port: number, say: (line: string) => void): Promise<Listening>;
}

/** The endpoints of one client, which end with it. */
export class ClientEndpoints {
  readonly #service: EndpointService;
  readonly #say: (line: string) => void;
  readonly #log: (line: string) => void;
  readonly #opened: Listening[] = [];
  #isClosed = false;

  constructor(service: EndpointService, { say, log }: { readonly say: (line: string) => void; readonly log: (line: string) => void }) {
    this.#service = service;
    this.#say = say;
    this.#log = log;
  }

  handlers(): RequestHandlers<ClientRequests, 'serve/open'> {
    return {
      'serve/open': async ({ port }) => {
        const opened = await this.#service.open(port, this.#say);
        this.#opened.push(opened);
        // The client left while the port was opened.
        if (this.#isClosed) this.close();
        return { port: opened.port };
      },
    };
  }

  close(): void {
    this.#isClosed = true;
    for (const opened of this.#opened.splice(0)) {
      opened.close().catch((error: unknown) => this.#log(`An endpoint was not closed: ${String(error)}`));
    }
  }
}
