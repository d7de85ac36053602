import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/* What every HTTP server of this machine for its own programs has in common. */

const ADDRESS = '127.0.0.1';

export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';

  constructor(port: number) {
    super(`Port ${port} is taken.`);
  }
}

export interface Listening {
  readonly port: number;
  /** Ends the requests under way. */
  close(): Promise<void>;
}

/** Has the server listen on 127.0.0.1 alone. @param port 0 for a free one @throws PortTakenError */
export async function listenHere(server: Server, port: number): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(error.code === 'EADDRINUSE' ? new PortTakenError(port) : error));
    server.listen(port, ADDRESS, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Why a request does not come from a program of this machine; undefined where it does. A page in a browser can reach this machine's ports: the browser says so,
 * or it has another name for the host.
 * @param port the one that has to be named; any where absent, since tunnels have others
 */
export function foreignSource({ headers: { host = '', origin, 'sec-fetch-site': site } }: Pick<IncomingMessage, 'headers'>, port?: number): 'page' | 'host' | undefined {
  if (origin !== undefined || (site !== undefined && site !== 'none')) return 'page';
  const [here, named] = /^(?:127\.0\.0\.1|localhost)(?::(\d{1,5}))?$/i.exec(host) ?? [];
  return here === undefined || (port !== undefined && named !== String(port)) ? 'host' : undefined;
}

/** The key in `Authorization: Bearer KEY`. */
export const bearerKey = ({ headers: { authorization = '' } }: Pick<IncomingMessage, 'headers'>): string | undefined => /^Bearer (\S{1,200})$/i.exec(authorization)?.[1];
