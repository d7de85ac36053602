import { expect, it, vi } from 'vitest';
import { callLanguageModel, offeredLanguageModels } from '../../extension/workers/language-models.ts';

vi.mock('vscode', () => {
  const models = [{ vendor: 'conductor', id: 'conductor', family: 'conductor', name: 'Conductor' }, { vendor: 'copilot', id: 'gpt', family: 'gpt-5', name: 'GPT', maxInputTokens: 9_000 }];
  return {
    l10n: { t: (text: string, ...values: unknown[]) => text.replace(/\{(\d)\}/g, (_, index: string) => String(values[Number(index)])) },
    lm: { selectChatModels: async ({ vendor }: { vendor?: string }) => models.filter((model) => vendor === undefined || model.vendor === vendor) },
    CancellationTokenSource: class { cancel(): void {} dispose(): void {} },
    LanguageModelError: class extends Error {},
    LanguageModelChatMessage: { User: (content: string) => content, Assistant: (content: string) => content },
  };
});

it('offers VS Code\'s models as workers, and not Conductor\'s own, which would ask themselves', async () => {
  expect(await offeredLanguageModels()).toEqual([{ server: 'vscode', model: 'copilot/gpt', name: 'GPT', contextTokens: 9_000, remote: true }]);
});

it.each([['conductor/conductor', 'would ask itself'], ['conductor', 'It offers: copilot/gpt.']])('refuses a worker whose model is Conductor, written as %s', async (model, problem) => {
  const call = { callId: '1', provider: 'vscode' as const, model, messages: [{ role: 'user' as const, content: 'Hello' }], maxOutputTokens: 100 };
  await expect(callLanguageModel(call, new AbortController().signal, () => undefined)).rejects.toThrow(problem);
});
