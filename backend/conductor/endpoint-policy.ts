import type { ModelReply, ModelRequest } from '../workers/model.ts';
import { endpointMessages } from './conductor-prompt.ts';
import type { Policy, PolicyIdentity, PolicyRequest, PolicySample } from './policy.ts';
import type { PromptProfile } from './prompt-profile.ts';

/** One paid call of the model that plays the Conductor; retries, limits and money are the caller's. */
export type ConductorCall = (
  request: ModelRequest,
  options: { readonly sample: number; readonly signal: AbortSignal; readonly onText: (text: string) => void },
) => Promise<ModelReply>;

export interface EndpointPolicyOptions {
  readonly model: string;
  readonly profile: PromptProfile;
  readonly call: ConductorCall;
}

/**
 * Any model behind an API as the Conductor. It gets the paper's prompt with the opening words asked for instead of prefilled. It
 * ignores `constrained` and returns neither token ids nor log-probabilities, therefore it plans but cannot be trained.
 */
export class EndpointPolicy implements Policy {
  readonly identity: PolicyIdentity;
  readonly #profile: PromptProfile;
  readonly #call: ConductorCall;

  constructor({ model, profile, call }: EndpointPolicyOptions) {
    this.identity = { model, promptVersion: profile.version };
    this.#profile = profile;
    this.#call = call;
  }

  sample(request: PolicyRequest): Promise<PolicySample[]> {
    const { n, sampling, signal, onText } = request;
    const messages = endpointMessages(request, this.#profile);
    const samples = Array.from({ length: n }, async (_, sample): Promise<PolicySample> => {
      const seed = sampling.seeds?.[sample];
      const reply = await this.#call(
        {
          messages,
          maxOutputTokens: sampling.maxTokens,
          ...(sampling.temperature !== undefined && { temperature: sampling.temperature }),
          ...(sampling.topP !== undefined && { topP: sampling.topP }),
          ...(seed !== undefined && { seed }),
        },
        { sample, signal, onText: (text) => onText(sample, text) },
      );
      return { text: reply.text, finishReason: reply.finishReason, usage: reply.usage, policy: this.identity };
    });
    return Promise.all(samples);
  }
}
