import { DownloadError, type DownloadErrorKind } from '../download/download-error.ts';

/** The kinds of problems with a model on the hub. A problem has its own kind only if code depends on it. */
export type HubErrorKind =
  /** The name of the model or the revision, or the address of the hub, is invalid. */
  | 'invalid-name'
  | 'unauthorized'
  /** The user must first accept the model's terms. */
  | 'gated'
  | 'not-found'
  | 'no-revision'
  /** The repository has no model that can run here. */
  | 'no-model'
  | 'rate-limit'
  | 'server'
  | 'offline'
  | 'bad-answer'
  | 'checksum'
  | 'disk-full'
  | 'disk';

/** A model could not be downloaded. The message is one sentence that says what happened and what to do. */
export class HubError extends Error {
  override readonly name = 'HubError';
  readonly kind: HubErrorKind;

  constructor(kind: HubErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

const KINDS: Readonly<Record<DownloadErrorKind, HubErrorKind>> = {
  'unauthorized': 'unauthorized',
  'forbidden': 'gated',
  'not-found': 'not-found',
  'rate-limit': 'rate-limit',
  'server': 'server',
  'bad-answer': 'bad-answer',
  'network': 'offline',
  'refused-address': 'bad-answer',
  'wrong-size': 'checksum',
  'checksum': 'checksum',
  'disk-full': 'disk-full',
  'disk': 'disk',
};

export interface Asked {
  readonly repo: string;
  readonly revision: string;
  readonly host: string;
  readonly hasToken: boolean;
}

/**
 * Turns a download's error into one about a model. The hub answers 401 also for a model that does not exist, to hide which private
 * models exist. Its header `X-Error-Code`, if sent, says more.
 */
export function toHubError(error: unknown, { repo, revision, host, hasToken }: Asked): unknown {
  if (!(error instanceof DownloadError)) return error;
  const make = (kind: HubErrorKind, message: string): HubError => new HubError(kind, message, error);
  if (error.code === 'GatedRepo' || error.kind === 'forbidden') {
    const then = hasToken ? 'with the account of your access token' : 'and give an access token';
    return make('gated', `${repo} is open only to those who accept its terms at ${host}: accept them there, ${then}.`);
  }
  if (error.code === 'RevisionNotFound') {
    return make('no-revision', `${repo} has no revision "${revision}" at ${host}: check its name.`);
  }
  if (error.kind === 'unauthorized') {
    return hasToken
      ? make('unauthorized', `${host} does not know ${repo}, or does not accept the access token: check the name and the token.`)
      : make('unauthorized', `${host} shows ${repo} only with an access token: check the name, or give a token.`);
  }
  if (error.code === 'RepoNotFound' || error.kind === 'not-found') {
    return make('not-found', `${host} has no model ${repo} in revision "${revision}": check the name.`);
  }
  return make(KINDS[error.kind], error.message);
}
