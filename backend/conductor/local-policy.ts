import type { LanguageModel } from '../lm/language-model.ts';
import { LOCAL_SAMPLING, localUsage, randomSeed } from '../workers/adapters/local-adapter.ts';
import { conductorPrompt } from './conductor-prompt.ts';
import { planGrammar } from './plan-grammar.ts';
import type { Policy, PolicyIdentity, PolicyRequest, PolicySample } from './policy.ts';
import type { PromptProfile } from './prompt-profile.ts';

/** LoRA weights that change the model while it plans. */
export interface PolicyAdapter {
  /** A PEFT folder. */
  readonly folder: string;
  /** Changes with the weights. */
  readonly version: string;
}

export interface LocalPolicyOptions {
  readonly model: LanguageModel;
  /** As people know the model. */
  readonly name: string;
  readonly profile: PromptProfile;
  readonly adapter?: PolicyAdapter | undefined;
}

/**
 * A model of this machine as the Conductor. It continues the paper's opening words exactly, writes all samples of a prompt in one go
 * and, unless told otherwise, only texts that parse as a plan. What it returns is all that training needs: the tokens, their
 * log-probabilities and the seeds.
 */
export class LocalPolicy implements Policy {
  readonly identity: PolicyIdentity;
  readonly #options: LocalPolicyOptions;

  constructor(options: LocalPolicyOptions) {
    const { name, profile, adapter } = options;
    this.#options = options;
    this.identity = { model: name, ...(adapter && { adapterVersion: adapter.version }), promptVersion: profile.version };
  }

  /** @throws what the model throws: WorkerError is made of it by whoever pays for the call */
  async sample(request: PolicyRequest): Promise<PolicySample[]> {
    const { n, pool, rounds, sampling, signal, onText } = request;
    const { model, profile, adapter } = this.#options;
    const { messages, prefill } = conductorPrompt(request, profile);
    const seeds = sampling.seeds ?? Array.from({ length: n }, randomSeed);
    const constrained = sampling.constrained ?? true;
    // Whoever names a temperature, as training does, wants the model's own distribution and not what its makers recommend.
    const drawn = sampling.temperature === undefined ? LOCAL_SAMPLING : { temperature: sampling.temperature };
    const texts = await model.write({
      messages: messages.map(({ role, content }) => ({ role, content })),
      prefill,
      samples: n,
      seeds,
      maxTokens: sampling.maxTokens,
      ...drawn,
      ...(sampling.topP !== undefined && { topP: sampling.topP }),
      grammar: constrained ? planGrammar({ workers: pool.length, revision: rounds.length > 0, prefill }) : undefined,
      adapter: adapter?.folder,
      signal,
      onText,
    });
    return texts.map((written, sample) => ({
      text: written.text,
      finishReason: written.finishReason,
      usage: localUsage(written),
      policy: this.identity,
      promptTokenIds: written.promptTokenIds,
      tokenIds: written.tokenIds,
      logprobs: written.logprobs,
      sampled: { seed: seeds[sample] as number, device: written.device },
    }));
  }
}
