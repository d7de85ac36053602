import type { ServerProvider } from '../../protocol/providers.ts';

/** How a provider lists its models. A list costs nothing. */
export interface ModelList {
  /** Appended to the base address. */
  readonly path: string;
  readonly headers: (key: string | undefined) => Readonly<Record<string, string>>;
  /** Whether the API may be under `/v1` of the address that the user gave. */
  readonly triesVersion: boolean;
  /** Whether servers on this machine list their models without a key. */
  readonly isOpen: boolean;
}

const bearer: ModelList['headers'] = (key): Readonly<Record<string, string>> => (key ? { authorization: `Bearer ${key}` } : {});
/** A version of Anthropic's API that lists models. */
const ANTHROPIC_VERSION = { 'anthropic-version': '2023-06-01' };

export const MODEL_LISTS: Readonly<Record<ServerProvider, ModelList>> = {
  'openai': { path: '/models', headers: bearer, triesVersion: false, isOpen: false },
  'openai-compatible': { path: '/models', headers: bearer, triesVersion: true, isOpen: true },
  'anthropic': {
    path: '/v1/models?limit=1000', headers: (key) => ({ ...ANTHROPIC_VERSION, ...(key && { 'x-api-key': key }) }), triesVersion: false, isOpen: false,
  },
};
