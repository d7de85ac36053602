import { CONDUCTOR_MODEL } from '../protocol/conversation.ts';
import { invalid } from './endpoint-error.ts';

/** Claude Code offers only models whose names begin so. */
const CLAUDE = /^(?:claude|anthropic)/;
const PREFIX = 'claude-';

/** The models that a client may name, `conductor` first. It is simulated if a worker is. @param workers those that are enabled */
export class ModelList {
  readonly #names: readonly string[];
  readonly #simulated: ReadonlySet<string>;

  constructor(workers: readonly { readonly id: string; readonly simulated?: boolean }[]) {
    this.#names = [CONDUCTOR_MODEL, ...workers.map(({ id }) => id)];
    const simulated = workers.filter((worker) => worker.simulated).map(({ id }) => id);
    this.#simulated = new Set(simulated.length === 0 ? [] : [CONDUCTOR_MODEL, ...simulated]);
  }

  /** The model that a client means. An unknown one stays as it is. */
  meant(name: string): string {
    if (this.#names.includes(name) || !name.startsWith(PREFIX)) return name;
    const rest = name.slice(PREFIX.length);
    return this.#names.includes(rest) ? rest : name;
  }

  /** As OpenAI's clients read it. */
  get openAi(): object {
    return { object: 'list', data: this.#names.map((name) => this.#openAiModel(name)) };
  }

  /** As Anthropic's clients and the discovery of Claude Code read it. */
  get anthropic(): object {
    const data = this.#names.map((name) => this.#anthropicModel(name));
    return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  }

  /** One of them, in either form. @throws EndpointError */
  one(name: string, { isAnthropic }: { readonly isAnthropic: boolean }): object {
    const model = this.meant(name);
    if (!this.#names.includes(model)) throw invalid(`There is no model "${name}". The models are ${this.#names.join(', ')}.`, 404, 'model_not_found');
    return isAnthropic ? this.#anthropicModel(model) : this.#openAiModel(model);
  }

  #openAiModel(id: string): object {
    return { id, object: 'model', created: 0, owned_by: this.#simulated.has(id) ? 'conductor (simulated)' : 'conductor' };
  }

  #anthropicModel(name: string): { readonly id: string } & Record<string, unknown> {
    const id = CLAUDE.test(name) ? name : `${PREFIX}${name}`;
    const isPlanner = name === CONDUCTOR_MODEL;
    const isSimulated = this.#simulated.has(name);
    const display_name = isPlanner ? `Conductor${isSimulated ? ' (simulated)' : ''}` : `${name} (Conductor${isSimulated ? ', simulated' : ''})`;
    const description = isPlanner ? `Plans across ${isSimulated ? 'simulated' : 'your'} workers` : `A ${isSimulated ? 'simulated ' : ''}worker, without a plan`;
    return { type: 'model', id, display_name, description, created_at: '1970-01-01T00:00:00Z', capabilities: null, lifecycle: 'active', deprecated_at: null };
  }
}

/** Whether a name may be one that only Anthropic's clients are told. */
export function isClaudeName(name: string): boolean {
  return name.startsWith(PREFIX);
}
