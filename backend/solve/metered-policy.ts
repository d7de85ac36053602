import { conductorPrompt } from '../conductor/conductor-prompt.ts';
import type { Policy, PolicyIdentity, PolicyRequest, PolicySample } from '../conductor/policy.ts';
import type { PromptProfile } from '../conductor/prompt-profile.ts';
import type { ModelAdapter, ModelReply, ModelRequest } from '../workers/model.ts';

export interface MeteredPolicyOptions {
  readonly policy: Policy;
  /** The policy's own; what is set aside for a call is worked out from its prompt. */
  readonly profile: PromptProfile;
  /** A call on record, within limits and budget, made again where that can help; `adapter` is who makes it. */
  readonly call: (request: ModelRequest, signal: AbortSignal, adapter: ModelAdapter) => Promise<ModelReply>;
}

/**
 * A policy that asks its model itself, with each of its samples put on a run's record like any other call: EndpointPolicy is given
 * the calls to make, a local one makes its own.
 */
export class MeteredPolicy implements Policy {
  readonly identity: PolicyIdentity;
  readonly #options: MeteredPolicyOptions;

  constructor(options: MeteredPolicyOptions) {
    this.identity = options.policy.identity;
    this.#options = options;
  }

  sample(request: PolicyRequest): Promise<PolicySample[]> {
    const { seeds } = request.sampling;
    return Promise.all(Array.from({ length: request.n }, (_, sample) => {
      const seed = seeds?.[sample];
      const sampling = { ...request.sampling, ...(seeds && { seeds: seed === undefined ? [] : [seed] }) };
      return this.#one({ ...request, n: 1, sampling, onText: (_only, text) => request.onText(sample, text) });
    }));
  }

  async #one(request: PolicyRequest): Promise<PolicySample> {
    const { policy, profile, call } = this.#options;
    const samples: PolicySample[] = [];
    const adapter: ModelAdapter = {
      // `asked` also has what workers.json says of sampling.
      stream: async (asked, { signal, onText }) => {
        const told = (_sample: number, text: string): void => {
          onText(text);
          request.onText(0, text);
        };
        const sampling = { ...request.sampling, temperature: asked.temperature, topP: asked.topP };
        const [sample] = await policy.sample({ ...request, sampling, signal, onText: told });
        if (!sample) throw new Error('The policy wrote nothing at all.');
        samples.push(sample);
        const { text, finishReason, usage, sampled } = sample;
        return { text, finishReason, usage, model: policy.identity.model, ...(sampled && { sampled }) };
      },
    };
    const { messages } = conductorPrompt(request, profile);
    const { maxTokens, temperature, topP } = request.sampling;
    const wanted = { ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { topP }) };
    await call({ messages, maxOutputTokens: maxTokens, ...wanted }, request.signal, adapter);
    // Only the attempt that succeeded wrote one.
    return samples.at(-1) as PolicySample;
  }
}
