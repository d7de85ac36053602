import { CONDUCTOR_MODEL } from '../../protocol/conversation.ts';
import { invalid } from './endpoint-error.ts';

/** Claude Code offers only models whose names begin so. */
const CLAUDE = /^(?:claude|anthropic)/;
const PREFIX = 'claude-';

/** The models that a client may name, `conductor` first. @param workers ids of those that are enabled */
export class ModelList {
  readonly #names: readonly string[];

  constructor(workers: readonly string[]) {
    this.#names = [CONDUCTOR_MODEL, ...workers];
  }

  /** The model that a client means. An unknown one stays as it is. */
  meant(name: string): string {
    if (this.#names.includes(name) || !name.startsWith(PREFIX)) return name;
    const rest = name.slice(PREFIX.length);
    return this.#names.includes(rest) ? rest : name;
  }

  /** As OpenAI's clients read it. */
  get openAi(): object {
    return { object: 'list', data: this.#names.map((id) => openAiModel(id)) };
  }

  /** As Anthropic's clients and the discovery of Claude Code read it. */
  get anthropic(): object {
    const data = this.#names.map(anthropicModel);
    return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  }

  /** One of them, in either form. @throws EndpointError */
  one(name: string, { isAnthropic }: { readonly isAnthropic: boolean }): object {
    const model = this.meant(name);
    if (!this.#names.includes(model)) throw invalid(`There is no model "${name}". The models are ${this.#names.join(', ')}.`, 404, 'model_not_found');
    return isAnthropic ? anthropicModel(model) : openAiModel(model);
  }
}

function openAiModel(id: string): object {
  return { id, object: 'model', created: 0, owned_by: 'conductor' };
}

function anthropicModel(name: string): { readonly id: string } & Record<string, unknown> {
  const id = CLAUDE.test(name) ? name : `${PREFIX}${name}`;
  const isPlanner = name === CONDUCTOR_MODEL;
  const display_name = isPlanner ? 'Conductor' : `${name} (Conductor)`;
  const description = isPlanner ? 'Plans across your workers' : 'A worker, without a plan';
  return { type: 'model', id, display_name, description, created_at: '1970-01-01T00:00:00Z', capabilities: null, lifecycle: 'active', deprecated_at: null };
}

/** Whether a name may be one that only Anthropic's clients are told. */
export function isClaudeName(name: string): boolean {
  return name.startsWith(PREFIX);
}
