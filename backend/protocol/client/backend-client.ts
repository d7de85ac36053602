import type { z } from 'zod';
import type {
  BackendNotifications, BackendRequests, ClientNotifications, ClientRequests, NotificationMap, Params, ParamsInput, Result,
} from '../methods.ts';

type Payload<M extends NotificationMap, K extends keyof M> = z.output<M[K]>;

/** A client's handlers for the backend's requests. Missing handlers must match its capabilities. */
export type BackendRequestHandlers = {
  readonly [K in keyof BackendRequests]?: (
    params: Params<BackendRequests, K>, signal: AbortSignal,
  ) => Promise<Result<BackendRequests, K>>;
};

/** A live connection to the backend, as VS Code and the command line use it. */
export interface BackendClient {
  /** @throws RequestError with the backend's sentence; the connection stays usable unless it is closed. */
  request<K extends keyof ClientRequests & string>(
    method: K, params: ParamsInput<ClientRequests, K>, signal?: AbortSignal,
  ): Promise<Result<ClientRequests, K>>;
  notify<K extends keyof ClientNotifications & string>(method: K, params: Payload<ClientNotifications, K>): void;
  /** @returns a function that ends the subscription. */
  on<K extends keyof BackendNotifications & string>(
    method: K, listener: (params: Payload<BackendNotifications, K>) => void,
  ): () => void;
  /** Resolves once the connection is closed, by either end, with a sentence that says why. */
  readonly closed: Promise<string>;
  close(): void;
}
