import { providerWords } from '../protocol/provider-words.ts';
import { factsOf } from '../protocol/providers.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { WorkerErrorKind } from './errors.ts';
import { serverName } from './servers/server-of.ts';

export interface FailureDetails {
  /** The server's message, redacted. */
  readonly quote?: string | undefined;
  readonly redirectTarget?: string | undefined;
  /** The server could not be reached: its name is unknown or nothing listens there. */
  readonly unreachable?: boolean | undefined;
  /** The server's name could not be resolved, which also happens without a network. */
  readonly unknownHost?: boolean | undefined;
  /** The content type of a response that is not a model's answer. */
  readonly contentType?: string | undefined;
}

function seconds(ms: number): string {
  return `${Number((ms / 1_000).toFixed(1))} s`;
}

/** A message for users: the worker, what happened, and what to do. */
export function failureSentence(kind: WorkerErrorKind, worker: WorkerConfig, details: FailureDetails = {}): string {
  const name = `Worker "${worker.id}"`;
  const server = serverName(worker);
  const key = worker.key === undefined ? 'a key' : `the key ${worker.key}`;
  const said = providerWords(details.quote);
  switch (kind) {
    case 'authentication':
      return `${name}: ${server} does not accept ${key}${said}; set a valid one.`;
    case 'missing-key':
      return worker.key === undefined
        ? `${name}: ${server} requires a key and the worker has none; set one.`
        : `${name} needs the key ${worker.key}, which is not set; set it and try again.`;
    case 'payment':
      return `${name}: the account at ${server} has no credit left${said}; top it up or use another worker.`;
    case 'permission':
      return `${name}: ${server} does not allow this call${said}; check what the key and the account may use.`;
    case 'not-found':
      if (details.redirectTarget !== undefined) {
        return `${name}: ${server} redirects to ${details.redirectTarget}, which is not followed; give the worker that address.`;
      }
      if (details.contentType !== undefined) {
        return `${name}: ${server} answered with a web page instead of a model's answer; check the worker's address, which often ends in /v1.`;
      }
      if (factsOf(worker.provider).reach !== 'server') return `${name}: ${server} does not offer the model "${worker.model}"; choose another.`;
      return `${name}: ${server} does not have the model "${worker.model}" or the address${said}; check the model's name and the address.`;
    case 'invalid-request':
      return `${name}: ${server} refused the request${said}; check the worker's settings.`;
    case 'context-overflow':
      return `${name}: the prompt is too long for "${worker.model}"${said}; send less or use a worker with a larger window.`;
    case 'rate-limit':
      return `${name}: ${server} accepts no more calls at the moment${said}; wait, or lower the worker's concurrency.`;
    case 'overloaded':
      return `${name}: ${server} is overloaded${said}; try again later or use another worker.`;
    case 'server':
      return `${name}: ${server} failed${said}; try again later or use another worker.`;
    case 'network':
      if (details.unknownHost) {
        return `${name}: the server ${server} cannot be found; is there a network connection, and is the address right?`;
      }
      return details.unreachable
        ? `${name}: nothing answers at ${server}; is the server running and the address right?`
        : `${name}: the connection to ${server} broke; check the network and try again.`;
    case 'first-token-timeout':
      return (
        `${name} sent nothing within ${seconds(worker.firstTokenTimeoutMs)}; ` +
        'try again, or increase "firstTokenTimeoutMs" in workers.json if the model reasons for long.'
      );
    case 'idle-timeout':
      return `${name} sent nothing for ${seconds(worker.idleTimeoutMs)} during its answer; try again, or increase "idleTimeoutMs" in workers.json.`;
    case 'incomplete':
      return `${name}: ${server} ended the answer before it was complete; try again.`;
    case 'invalid-response':
      return `${name}: ${server} sent an answer that could not be read${said}; check the worker's address and provider.`;
    case 'too-large':
      return `${name}: ${server} sent more than an answer can hold and was stopped; ask for less in one step.`;
    case 'empty-answer':
      return `${name}: ${server} answered twice with nothing; ask in other words, or another worker.`;
    case 'model-died':
    case 'model-unusable':
    case 'model-unloaded':
      return `${name}: the model "${worker.model}" does not run${said}; try again or choose another model.`;
    case 'agent-failed':
      return `${name}: the agent did not finish${said}; try again or use another worker.`;
    case 'cancelled':
      return `The call of worker "${worker.id}" was cancelled.`;
  }
}
