import * as vscode from 'vscode';
import { VENDOR } from '../common/vendor.ts';
import type { ModelProvider, ModelProviderParts } from './model-provider.ts';

/** Conductor and its workers as language models of VS Code. Only the registration is made when VS Code starts; the code behind it is loaded with its first use. */
export function registerModelProvider(parts: ModelProviderParts): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  let loading: Promise<ModelProvider> | undefined;
  const load = (): Promise<ModelProvider> => (loading ??= import('./model-provider.ts').then((module) => new module.ModelProvider(parts, () => changed.fire())));
  const provider = vscode.Disposable.from(
    changed,
    new vscode.Disposable(parts.poolStore.changed.on((pool) => void load().then((provider) => provider.take(pool)).catch(parts.report))),
    vscode.workspace.onDidGrantWorkspaceTrust(() => changed.fire()),
    vscode.lm.registerLanguageModelChatProvider(VENDOR, {
      onDidChangeLanguageModelChatInformation: changed.event,
      provideLanguageModelChatInformation: async ({ silent }) => (await load()).models({ silent }),
      provideLanguageModelChatResponse: async (model, messages, options, progress, token) => (await load()).respond({ model, messages, options, progress, token }),
      provideTokenCount: async (_model, text, token) => (await load()).count(text, token),
    }),
  );
  // VS Code asks for a list once somebody selects a model, or the list has changed. Until then its pickers have none.
  changed.fire();
  return provider;
}
