import { factsOf } from '../protocol/providers.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { WorkerErrorKind } from './errors.ts';
import { serverName } from './servers/server-of.ts';

export interface FailureDetails {
  /** The server's own words, redacted. */
  readonly quote?: string | undefined;
  readonly redirectTarget?: string | undefined;
  /** The server could not be reached at all: its name is unknown or nothing listens there. */
  readonly unreachable?: boolean | undefined;
  /** The name of the server leads nowhere, as every name does without a network. */
  readonly unknownHost?: boolean | undefined;
  /** The server answered with something that is no model's answer. */
  readonly contentType?: string | undefined;
}

function seconds(ms: number): string {
  return `${Number((ms / 1_000).toFixed(1))} s`;
}

/** One sentence for people: which worker, what happened, what to do. */
export function failureSentence(kind: WorkerErrorKind, worker: WorkerConfig, details: FailureDetails = {}): string {
  const name = `Worker "${worker.id}"`;
  const server = serverName(worker);
  const key = worker.key === undefined ? 'a key' : `the key ${worker.key}`;
  const said = details.quote === undefined ? '' : ` (it said: "${details.quote}")`;
  switch (kind) {
    case 'authentication':
      return `${name}: ${server} does not accept ${key}${said}; set a valid one.`;
    case 'missing-key':
      return worker.key === undefined
        ? `${name}: ${server} wants a key and the worker has none; give it one.`
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
      return `${name}: ${server} allows no more calls for the moment${said}; wait, or lower the worker's concurrency.`;
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
        `${name} said nothing within ${seconds(worker.firstTokenTimeoutMs)}; ` +
        'try again, or give it longer in workers.json ("firstTokenTimeoutMs") if the model thinks long.'
      );
    case 'idle-timeout':
      return `${name} fell silent for ${seconds(worker.idleTimeoutMs)} in mid-answer; try again, or give it longer in workers.json ("idleTimeoutMs").`;
    case 'incomplete':
      return `${name}: ${server} ended the answer before it was complete; try again.`;
    case 'invalid-response':
      return `${name}: ${server} answered in a form that could not be read${said}; check the worker's address, and that its server has the API that it is asked by.`;
    case 'too-large':
      return `${name}: ${server} sent more than an answer can hold and was stopped; ask for less in one step.`;
    case 'model-died':
    case 'model-unusable':
    case 'model-unloaded':
      return `${name}: the model "${worker.model}" does not run${said}; try again or choose another model.`;
    case 'cancelled':
      return `The call of worker "${worker.id}" was cancelled.`;
  }
}
