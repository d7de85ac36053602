import type { Provider } from '../../protocol/providers.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import type { ChatDialects } from './chat-dialect.ts';
import { ClientModelAdapter, type ClientModel } from './client-model.ts';
import { WorkerError } from '../errors.ts';
import type { FillInForms } from './fill-in-forms.ts';
import { LocalAdapter, type LocalModelSource } from './local-adapter.ts';
import type { AcpAdapter } from './acp/acp-adapter.ts';
import type { RunAgent } from './acp/run-agent.ts';
import type { ModelAdapter } from '../model.ts';
import type { ServedParts } from './served/served-conductor.ts';

export interface AdapterParts {
  /** Absent for a server without a key. */
  readonly key?: string | undefined;
  readonly clientModel?: ClientModel | undefined;
  readonly localModel?: LocalModelSource | undefined;
  readonly runAgent?: RunAgent | undefined;
  readonly served?: ServedParts | undefined;
  readonly dialects: ChatDialects;
  readonly fillInForms: FillInForms;
}

type CreateAdapter = (worker: WorkerConfig, parts: AdapterParts) => Promise<ModelAdapter>;

/** Each is loaded with its SDK when its first worker is called: all of them together are a quarter of the backend's code. */
const ADAPTERS: Readonly<Record<Provider, CreateAdapter>> = {
  'openai': async (worker, { key }) => new (await import('./openai-responses.ts')).OpenAiResponsesAdapter(worker, key),
  'openai-compatible': async (worker, { key, dialects, fillInForms: forms, served }) => {
    const [{ FillInAdapter }, { OpenAiChatAdapter }] = await Promise.all([import('./fill-in.ts'), import('./openai-chat.ts')]);
    const chat = new FillInAdapter({ worker, key, forms, chat: new OpenAiChatAdapter(worker, key, dialects) });
    if (!worker.served) return chat;
    if (!served) throw outOfReach(`Worker "${worker.id}" is a served Conductor, which cannot be asked here: use another worker.`);
    return new (await import('./served/served-conductor.ts')).ServedConductor({ worker, key, chat, ...served });
  },
  'anthropic': async (worker, { key }) => new (await import('./anthropic.ts')).AnthropicAdapter(worker, key),
  'vscode': async (worker, { clientModel }) => {
    if (clientModel) return new ClientModelAdapter(worker, clientModel);
    throw outOfReach(`Worker "${worker.id}" is a model of VS Code: open VS Code with Conductor, or use another worker.`);
  },
  'local': async (worker, { localModel }) => {
    if (localModel) return new LocalAdapter(worker, localModel(worker));
    throw outOfReach(`Worker "${worker.id}" is a local model, which cannot run here: use another worker.`);
  },
  'acp': acpAdapter,
};

/** @throws WorkerError `not-found` where no agent can be started */
export async function acpAdapter(worker: WorkerConfig, { key, runAgent }: Pick<AdapterParts, 'key' | 'runAgent'>): Promise<AcpAdapter> {
  if (!runAgent) throw outOfReach(`Worker "${worker.id}" is an agent, which cannot be started here: use another worker.`);
  const { AcpAdapter: Adapter } = await import('./acp/acp-adapter.ts');
  return new Adapter({ worker, key, run: runAgent });
}

function outOfReach(message: string): WorkerError {
  return new WorkerError({ kind: 'not-found', message });
}

/** The adapter for a worker's wire format. @throws WorkerError `not-found` if its model cannot be reached. */
export const createAdapter: CreateAdapter = (worker, parts) => ADAPTERS[worker.provider](worker, parts);
