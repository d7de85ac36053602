import { APIError } from 'openai';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { fillInPrompt, fillsGaps } from './fill-in-templates.ts';
import type { FillIn, ModelRequest } from '../model.ts';
import { serverKindOf, type ServerKind } from '../servers/server-kind.ts';
import { baseUrlOf, serverKey } from '../servers/server-of.ts';

/**
 * How a server is asked to fill a gap:
 * `suffix`: OpenAI's old Completions with `suffix`, which Ollama has (its docs/openai.md) and DeepSeek under `/beta`
 * (https://api-docs.deepseek.com/api/create-completion);
 * `fim`: Mistral's own address (https://docs.mistral.ai/api/#tag/fim);
 * `infill`: llama.cpp's (its tools/server/README.md), whose Completions refuse `suffix`;
 * `prompt`: Completions with the model's own markers, where `suffix` is refused (vLLM) or passed over (LM Studio);
 * `chat`: in words, where nothing else is left.
 */
export type FillInForm = 'suffix' | 'fim' | 'infill' | 'prompt' | 'chat';

/** What is sent where. */
export interface FillInCall {
  readonly url: string;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Left {
  readonly forms: readonly FillInForm[];
  /** When the server is asked again what it is. */
  readonly until: number;
}

/** How long a server that did not identify itself is not asked again. */
const UNKNOWN_MS = 60_000;

/** Remembers, for the life of the process, which form each server's models accept. */
export class FillInForms {
  readonly #left = new Map<string, Left>();
  readonly #now: () => number;

  constructor({ now = Date.now }: { readonly now?: () => number } = {}) {
    this.#now = now;
  }

  /** The forms worth trying, the best first; the last is always `chat`. */
  async of(worker: WorkerConfig, key: string | undefined, signal: AbortSignal): Promise<readonly FillInForm[]> {
    const known = this.#left.get(keyOf(worker));
    if (known && this.#now() < known.until) return known.forms;
    const kind = await serverKindOf(worker, key, signal);
    const forms = formsOf(kind ?? 'unknown', worker.model);
    this.#left.set(keyOf(worker), { forms, until: kind === undefined ? this.#now() + UNKNOWN_MS : Infinity });
    return forms;
  }

  /**
   * The server understood this form, and none of those that were tried before it.
   * @param tried as `of` gave them: what was learned since of the server itself is not lost
   */
  understood(worker: WorkerConfig, tried: readonly FillInForm[], form: FillInForm): void {
    const left = this.#left.get(keyOf(worker));
    if (left?.forms === tried) this.#left.set(keyOf(worker), { ...left, forms: left.forms.slice(left.forms.indexOf(form)) });
  }
}

function keyOf(worker: WorkerConfig): string {
  return `${serverKey(worker)} ${worker.model}`;
}

function formsOf(server: ServerKind, model: string): readonly FillInForm[] {
  const byName: readonly FillInForm[] = fillsGaps(model) ? ['prompt'] : [];
  switch (server) {
    case 'ollama':
    case 'deepseek':
      return ['suffix', 'chat'];
    case 'mistral':
      return ['fim', 'chat'];
    case 'llama.cpp':
      return ['infill', ...byName, 'chat'];
    case 'vllm':
    case 'lm-studio':
      return [...byName, 'chat'];
    // A server that ignores `suffix` would continue as if nothing followed: only models known to fill gaps are tried.
    case 'unknown':
      return byName.length > 0 ? ['suffix', ...byName, 'chat'] : ['chat'];
  }
}

type GapRequest = ModelRequest & { readonly fillIn: FillIn };

/** The call that asks a worker for what fills the gap, in a form other than `chat`. */
export function fillInCall(form: Exclude<FillInForm, 'chat'>, worker: WorkerConfig, request: GapRequest): FillInCall {
  const { fillIn, maxOutputTokens, temperature = TEMPERATURE, topP } = request;
  const { before, after } = fillIn;
  const base = baseUrlOf(worker).replace(/\/+$/, '');
  const common = { model: worker.model, stream: true, temperature, ...(topP !== undefined && { top_p: topP }) };
  switch (form) {
    case 'suffix':
      return {
        url: `${isDeepSeek(base) ? `${withoutVersion(base)}/beta` : base}/completions`,
        body: { ...common, prompt: before, suffix: after, max_tokens: maxOutputTokens, ...ended(fillIn), ...WITH_USAGE },
      };
    case 'fim':
      return {
        url: `${base}/fim/completions`,
        body: { ...common, prompt: before, suffix: after, max_tokens: maxOutputTokens, ...ended(fillIn) },
      };
    case 'infill':
      return {
        url: `${withoutVersion(base)}/infill`,
        body: {
          ...common, input_prefix: before, input_suffix: after, n_predict: maxOutputTokens, cache_prompt: true, ...ended(fillIn),
        },
      };
    case 'prompt': {
      const { prompt, stop } = fillInPrompt(worker.model, fillIn) ?? { prompt: before, stop: [] };
      return {
        url: `${base}/completions`,
        body: { ...common, prompt, max_tokens: maxOutputTokens, ...ended(fillIn, stop), ...WITH_USAGE },
      };
    }
  }
}

const WITH_USAGE = { stream_options: { include_usage: true } };

function ended({ stop = [] }: FillIn, more: readonly string[] = []): { stop?: readonly string[] } {
  const all = [...stop, ...more].slice(0, MAX_STOPS);
  return all.length > 0 ? { stop: all } : {};
}

function withoutVersion(base: string): string {
  return base.replace(/\/v1$/, '');
}

function isDeepSeek(base: string): boolean {
  return new URL(base).host === 'api.deepseek.com';
}

/** Models that fill gaps all take one, and what servers take by default (Ollama: 0.8) is for prose. */
const TEMPERATURE = 0.1;

/** What OpenAI's API takes, and with it every server that copies it. */
const MAX_STOPS = 4;

/** Whether a server refused a call because of its form, and not because of what was asked. */
export function refusesForm(error: unknown): boolean {
  if (!(error instanceof APIError) || error.status === undefined) return false;
  if ([404, 405, 501].includes(error.status)) return true;
  // 400 of Ollama, Mistral and vLLM, 500 of older llama.cpp: they say which parameter, or that the model does not fill gaps.
  return /suffix|infill|insert|fim|fill|middle|unsupported|not support|invalid model/i.test(error.message);
}
