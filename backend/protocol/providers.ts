export interface ProviderFacts {
  /** Where its models run: behind an address, in a client such as VS Code, in Conductor's own model process, or behind an agent that is started. */
  readonly reach: 'server' | 'client' | 'process' | 'agent';
  /** Name for people. */
  readonly label: string;
  /** Address of its API. A server without one needs `baseUrl` in the worker's settings. */
  readonly baseUrl?: string;
  /** Nobody bills its calls. */
  readonly isFree: boolean;
  /** Whether silence means a stalled call. A local model is silent while it loads; its process reports when it dies. */
  readonly isTimed: boolean;
  /** Upper limit of concurrent calls, whatever the workers' settings say. */
  readonly maxConcurrency?: number;
}

/** Every provider. Tables that depend on the provider are typed by its keys, so that the type checker names what a new row lacks. */
export const PROVIDERS = {
  /** OpenAI's own API. */
  'openai': { reach: 'server', label: 'OpenAI', baseUrl: 'https://api.openai.com/v1', isFree: false, isTimed: true },
  /** Every other server with the wire format of Chat Completions. */
  'openai-compatible': { reach: 'server', label: 'OpenAI’s API', isFree: false, isTimed: true },
  'anthropic': { reach: 'server', label: 'Anthropic', baseUrl: 'https://api.anthropic.com', isFree: false, isTimed: true },
  'vscode': { reach: 'client', label: 'VS Code', isFree: false, isTimed: true },
  /** A model that Conductor runs on this machine: one call at a time, since two would take as long together as in turn. */
  'local': { reach: 'process', label: 'this machine', isFree: true, isTimed: false, maxConcurrency: 1 },
  /** A program that speaks the Agent Client Protocol. It is silent while its commands run; a step has a limit of time instead. */
  'acp': { reach: 'agent', label: 'Agent Client Protocol', isFree: false, isTimed: false },
} as const satisfies Record<string, ProviderFacts>;

export type Provider = keyof typeof PROVIDERS;
/** Providers whose models are behind an address. */
export type ServerProvider = { [P in Provider]: (typeof PROVIDERS)[P]['reach'] extends 'server' ? P : never }[Provider];

export const PROVIDER_NAMES = Object.keys(PROVIDERS) as [Provider, ...Provider[]];
export const SERVER_PROVIDER_NAMES = PROVIDER_NAMES.filter(isServerProvider) as [ServerProvider, ...ServerProvider[]];

export function isServerProvider(provider: Provider): provider is ServerProvider {
  return PROVIDERS[provider].reach === 'server';
}

/** A provider's facts by the common type, optional ones included. */
export function factsOf(provider: Provider): ProviderFacts {
  return PROVIDERS[provider];
}
