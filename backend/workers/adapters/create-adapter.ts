import type { Provider } from '../../protocol/providers.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { AnthropicAdapter } from './anthropic.ts';
import type { ChatDialects } from './chat-dialect.ts';
import { ClientModelAdapter, type ClientModel } from './client-model.ts';
import { WorkerError } from '../errors.ts';
import { FillInAdapter } from './fill-in.ts';
import type { FillInForms } from './fill-in-forms.ts';
import { LocalAdapter, type LocalModelSource } from './local-adapter.ts';
import { AcpAdapter } from './acp/acp-adapter.ts';
import type { RunAgent } from './acp/run-agent.ts';
import type { ModelAdapter } from '../model.ts';
import { OpenAiChatAdapter } from './openai-chat.ts';
import { OpenAiResponsesAdapter } from './openai-responses.ts';

export interface AdapterParts {
  /** Absent for a server without a key. */
  readonly key?: string | undefined;
  readonly clientModel?: ClientModel | undefined;
  readonly localModel?: LocalModelSource | undefined;
  readonly runAgent?: RunAgent | undefined;
  readonly dialects: ChatDialects;
  readonly fillInForms: FillInForms;
}

type CreateAdapter = (worker: WorkerConfig, parts: AdapterParts) => ModelAdapter;

const ADAPTERS: Readonly<Record<Provider, CreateAdapter>> = {
  'openai': (worker, { key }) => new OpenAiResponsesAdapter(worker, key),
  'openai-compatible': (worker, { key, dialects, fillInForms: forms }) =>
    new FillInAdapter({ worker, key, forms, chat: new OpenAiChatAdapter(worker, key, dialects) }),
  'anthropic': (worker, { key }) => new AnthropicAdapter(worker, key),
  'vscode': (worker, { clientModel }) => {
    if (clientModel) return new ClientModelAdapter(worker, clientModel);
    throw outOfReach(`Worker "${worker.id}" is a model of VS Code: open VS Code with Conductor, or use another worker.`);
  },
  'local': (worker, { localModel }) => {
    if (localModel) return new LocalAdapter(worker, localModel(worker));
    throw outOfReach(`Worker "${worker.id}" is a local model, which cannot run here: use another worker.`);
  },
  'acp': acpAdapter,
};

/** @throws WorkerError `not-found` where no agent can be started */
export function acpAdapter(worker: WorkerConfig, { key, runAgent }: Pick<AdapterParts, 'key' | 'runAgent'>): AcpAdapter {
  if (runAgent) return new AcpAdapter({ worker, key, run: runAgent });
  throw outOfReach(`Worker "${worker.id}" is an agent, which cannot be started here: use another worker.`);
}

function outOfReach(message: string): WorkerError {
  return new WorkerError({ kind: 'not-found', message });
}

/** The adapter for a worker's wire format. @throws WorkerError `not-found` if its model cannot be reached. */
export const createAdapter: CreateAdapter = (worker, parts) => ADAPTERS[worker.provider](worker, parts);
