import { APIError } from 'openai/core/error';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { fillInPrompt, fillsGaps, textBefore, withoutMarkers } from './fill-in-templates.ts';
import type { FillIn, ModelRequest } from '../model.ts';
import { underPluses } from './fill-in-files.ts';
import { serverKindOf, type ServerKind } from '../servers/server-kind.ts';
import { baseUrlOf, serverKey } from '../servers/server-of.ts';

/**
 * The request formats for filling a gap:
 * `suffix`: OpenAI's legacy Completions with `suffix`, supported by Ollama (its docs/openai.md) and by DeepSeek under `/beta`
 * (https://api-docs.deepseek.com/api/create-completion);
 * `fim`: Mistral's endpoint (https://docs.mistral.ai/api/#tag/fim);
 * `infill`: llama.cpp's endpoint (its tools/server/README.md), whose Completions refuse `suffix`;
 * `prompt`: Completions with the model's own markers, for servers that refuse (vLLM) or ignore (LM Studio) `suffix`;
 * `chat`: a chat message, if nothing else works.
 *
 * Parts of other files: `infill` has a field for them, `input_extra`; `prompt` has the markers of the model's family. With `suffix` and
 * `fim` the server puts its own markers around the two sides, and has none for files: there they are part of the text before the gap.
 */
export type FillInForm = 'suffix' | 'fim' | 'infill' | 'prompt' | 'chat';

/** The URL and body of a request. */
export interface FillInCall {
  readonly url: string;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Left {
  readonly forms: readonly FillInForm[];
  /** The time after which the server is identified again. */
  readonly until: number;
}

/** How long to wait before identifying an unknown server again. */
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
   * Records that the server accepted this form and none of those before it.
   * @param tried the forms that `of` returned. If they have changed since, nothing is recorded.
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
    // A server that ignores `suffix` would continue as if nothing followed. Therefore only models known to fill gaps are tried.
    case 'unknown':
      return byName.length > 0 ? ['suffix', ...byName, 'chat'] : ['chat'];
  }
}

type GapRequest = ModelRequest & { readonly fillIn: FillIn };

/** The request to fill a gap, in a form other than `chat`. */
export function fillInCall(form: Exclude<FillInForm, 'chat'>, worker: WorkerConfig, request: GapRequest): FillInCall {
  const { fillIn, maxOutputTokens, temperature = TEMPERATURE, topP } = request;
  const { after } = fillIn;
  const base = baseUrlOf(worker).replace(/\/+$/, '');
  const common = { model: worker.model, stream: true, temperature, ...(topP !== undefined && { top_p: topP }) };
  switch (form) {
    case 'suffix':
      return {
        url: `${isDeepSeek(base) ? `${withoutVersion(base)}/beta` : base}/completions`,
        body: { ...common, prompt: textBefore(worker.model, fillIn), suffix: after, max_tokens: maxOutputTokens, ...ended(fillIn), ...WITH_USAGE },
      };
    case 'fim':
      return {
        url: `${base}/fim/completions`,
        body: { ...common, prompt: underPluses(withoutMarkers(fillIn)), suffix: after, max_tokens: maxOutputTokens, ...ended(fillIn) },
      };
    case 'infill':
      return {
        url: `${withoutVersion(base)}/infill`,
        body: {
          ...common, input_prefix: fillIn.before, input_suffix: after, n_predict: maxOutputTokens, cache_prompt: true, ...ended(fillIn),
          ...extraOf(fillIn),
        },
      };
    case 'prompt': {
      const { prompt, stop } = fillInPrompt(worker.model, fillIn) ?? { prompt: fillIn.before, stop: [] };
      return {
        url: `${base}/completions`,
        body: { ...common, prompt, max_tokens: maxOutputTokens, ...ended(fillIn, stop), ...WITH_USAGE },
      };
    }
  }
}

const WITH_USAGE = { stream_options: { include_usage: true } };

/** llama.cpp puts the model's own markers around the pieces, or puts them before everything where the model has none. */
function extraOf(fillIn: FillIn): { input_extra?: readonly { filename: string; text: string }[] } {
  const { project } = withoutMarkers(fillIn);
  return project ? { input_extra: project.pieces.map(({ path, text }) => ({ filename: path, text: `${text.trimEnd()}\n` })) } : {};
}

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

/** The default temperatures of servers (Ollama: 0.8) are for prose. */
const TEMPERATURE = 0.1;

/** The limit of OpenAI's API, and of compatible servers. */
const MAX_STOPS = 4;

/** Whether a server refused a request because of its form, not its content. */
export function refusesForm(error: unknown): boolean {
  if (!(error instanceof APIError) || error.status === undefined) return false;
  if ([404, 405, 501].includes(error.status)) return true;
  // 400 from Ollama, Mistral and vLLM, 500 from older llama.cpp. The message names the parameter or says that the model cannot fill gaps.
  return /suffix|infill|insert|fim|fill|middle|unsupported|not support|invalid model/i.test(error.message);
}
