import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { AnthropicAdapter } from './anthropic.ts';
import type { ChatDialects } from './chat-dialect.ts';
import { ClientModelAdapter, type ClientModel } from './client-model.ts';
import { WorkerError } from '../errors.ts';
import { FillInAdapter } from './fill-in.ts';
import type { FillInForms } from './fill-in-forms.ts';
import { LocalAdapter, type LocalModelSource } from './local-adapter.ts';
import type { ModelAdapter } from '../model.ts';
import { OpenAiChatAdapter } from './openai-chat.ts';
import { OpenAiResponsesAdapter } from './openai-responses.ts';

export interface AdapterParts {
  /** Absent for a server that wants none. */
  readonly key?: string | undefined;
  readonly clientModel?: ClientModel | undefined;
  readonly localModel?: LocalModelSource | undefined;
  readonly dialects: ChatDialects;
  readonly fillInForms: FillInForms;
}

/** The adapter that speaks a worker's wire format. @throws WorkerError `not-found` where its model is out of reach. */
export function createAdapter(worker: WorkerConfig, parts: AdapterParts): ModelAdapter {
  const { key, clientModel, localModel, dialects, fillInForms } = parts;
  switch (worker.provider) {
    case 'openai':
      return new OpenAiResponsesAdapter(worker, key);
    case 'openai-compatible':
      return new FillInAdapter({ worker, key, forms: fillInForms, chat: new OpenAiChatAdapter(worker, key, dialects) });
    case 'anthropic':
      return new AnthropicAdapter(worker, key);
    case 'vscode':
      if (clientModel) return new ClientModelAdapter(worker, clientModel);
      throw new WorkerError({
        kind: 'not-found',
        message: `Worker "${worker.id}" is a model of VS Code: open VS Code with Conductor, or use another worker.`,
      });
    case 'local':
      if (localModel) return new LocalAdapter(worker, localModel(worker));
      throw new WorkerError({
        kind: 'not-found',
        message: `Worker "${worker.id}" is a model of this machine, and none is run here: use another worker.`,
      });
  }
}
