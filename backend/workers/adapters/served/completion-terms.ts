import { APIError } from 'openai/core/error';
import type { WorkerConfig } from '../../../protocol/worker-config.ts';
import { modelKey, serverName } from '../../servers/server-of.ts';

/** What a server takes besides OpenAI's own fields of a completion. */
export interface CompletionTerms {
  /** `structured_outputs` with a regular expression, as vLLM has it. */
  readonly structure: boolean;
  /** `return_token_ids` with `logprobs`. */
  readonly tokens: boolean;
  /** More than one text at once. */
  readonly several: boolean;
  /** `top_k` and `repetition_penalty`, without which vLLM takes those of the model's generation_config.json. */
  readonly sampling: boolean;
}

export type Term = keyof CompletionTerms;

const ALL: CompletionTerms = { structure: true, tokens: true, several: true, sampling: true };

/** The fields of a term, how a refusal names them, and what is lost without it. */
const TERMS: Readonly<Record<Term, { readonly fields: string; readonly named: RegExp; readonly lost: string }>> = {
  structure: { fields: '"structured_outputs"', named: /structured_outputs|structured output|guided|grammar|regex/i, lost: 'plans are not held to their form there; a text that is no plan is asked for again' },
  tokens: { fields: '"return_token_ids" and "logprobs"', named: /return_token_ids|logprobs/i, lost: 'Conductor cannot learn from its plans there' },
  several: { fields: '"n"', named: /^n\b|["'`]n["'`]|parameter=n\b|\bn (?:must|is|should|has|>)|completion choice/, lost: 'each plan is asked for by itself' },
  sampling: { fields: '"top_k" and "repetition_penalty"', named: /top_k|repetition_penalty/i, lost: 'the server\'s own top-k and repetition penalty apply' },
};

/** Remembers, for the life of the process, what each server refuses, and tells it once. */
export class KnownTerms {
  readonly #learned = new Map<string, CompletionTerms>();
  readonly #tell: (sentence: string) => void;

  constructor(tell: (sentence: string) => void) {
    this.#tell = tell;
  }

  of(worker: WorkerConfig): CompletionTerms {
    return this.#learned.get(modelKey(worker)) ?? ALL;
  }

  /**
   * What to ask for next where a server refused a field of the request; undefined where it refused something else. A refused request costs
   * nothing. @param asked the terms of which the request had fields
   */
  after(error: unknown, worker: WorkerConfig, asked: readonly Term[]): CompletionTerms | undefined {
    if (!(error instanceof APIError) || (error.status !== 400 && error.status !== 422)) return undefined;
    const complaint = `${error.param ?? ''} ${error.message}`.replace(/^\s+/, '');
    const terms = this.of(worker);
    const refused = asked.find((term) => TERMS[term].named.test(complaint));
    if (refused === undefined) return undefined;
    // Another call has learned it meanwhile.
    if (!terms[refused]) return terms;
    const left = { ...terms, [refused]: false };
    this.#learned.set(modelKey(worker), left);
    this.#tell(`${serverName(worker)}, where the Conductor "${worker.id}" is served, does not take ${TERMS[refused].fields}: ${TERMS[refused].lost}.`);
    return left;
  }
}
