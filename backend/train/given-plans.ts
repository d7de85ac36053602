import type { Policy, PolicyIdentity, PolicyRequest, PolicySample } from '../conductor/policy.ts';
import { localUsage } from '../workers/adapters/local-adapter.ts';
import type { SampledCompletion } from './engine.ts';

/** Writes the plan of the round that is asked for. */
export type WritePlan = (request: PolicyRequest) => Promise<SampledCompletion>;

/** A Conductor whose plans a training samples: a rollout runs what it is given. */
export class GivenPlans implements Policy {
  readonly identity: PolicyIdentity;
  readonly #write: WritePlan;

  constructor(identity: PolicyIdentity, write: WritePlan) {
    this.identity = identity;
    this.#write = write;
  }

  async sample(request: PolicyRequest): Promise<PolicySample[]> {
    const { text, finishReason, promptTokens, tokens } = await this.#write(request);
    return [{ text, finishReason, usage: localUsage({ promptTokenIds: promptTokens, tokenIds: tokens }), policy: this.identity }];
  }
}
