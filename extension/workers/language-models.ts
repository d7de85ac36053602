import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { BackendRequests, Params, Result } from '../../backend/protocol/methods.ts';
import { VENDOR } from '../common/vendor.ts';
import type { FoundWorker } from './found-models.ts';

type ModelCall = Params<BackendRequests, 'client/model'>;
type ModelReply = Result<BackendRequests, 'client/model'>;

/** A worker's `model` names one of VS Code's models as `vendor/id` or `vendor/family`, such as `copilot/gpt-5`. */
export function modelName(model: vscode.LanguageModelChat): string {
  return `${model.vendor}/${model.id}`;
}

/** Maximum wait for the list: an extension that provides models may have to start or sign in first. */
const OFFER_TIMEOUT_MS = 5_000;

/** Lists VS Code's models, without Conductor's own, at the user's request; empty after the timeout or if they may not be used. */
export async function offeredLanguageModels(): Promise<FoundWorker[]> {
  const late = new AbortController();
  try {
    const tooLate = delay(OFFER_TIMEOUT_MS, [], { signal: late.signal }).catch(() => []);
    const models = await Promise.race([vscode.lm.selectChatModels({}), tooLate]);
    return models.filter(({ vendor }) => vendor !== VENDOR).map((model) => ({
      server: 'vscode', model: modelName(model), name: model.name || modelName(model), contextTokens: model.maxInputTokens, remote: true,
    }));
  } catch (error) {
    if (error instanceof vscode.LanguageModelError) return [];
    throw error;
  } finally {
    late.abort();
  }
}

/**
 * Calls one of VS Code's models. They have no system role, so the system text precedes the user's text. They report no usage, so the
 * model's own token counter is used.
 * @throws an error with a sentence for users.
 */
export async function callLanguageModel(
  call: ModelCall, signal: AbortSignal, onText: (text: string) => void,
): Promise<ModelReply> {
  const cancellation = new vscode.CancellationTokenSource();
  const cancel = (): void => cancellation.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    signal.throwIfAborted();
    const model = await findModel(call.model);
    const messages = call.messages.map(({ role, content }) =>
      role === 'assistant' ? vscode.LanguageModelChatMessage.Assistant(content) : vscode.LanguageModelChatMessage.User(content));
    const options = { modelOptions: { max_tokens: call.maxOutputTokens } };
    const response = await model.sendRequest(messages, options, cancellation.token);
    let text = '';
    for await (const piece of response.text) {
      text += piece;
      onText(piece);
    }
    const counts = await Promise.all(messages.map((message) => model.countTokens(message, cancellation.token)));
    return {
      text,
      inputTokens: counts.reduce((sum, count) => sum + count, 0),
      outputTokens: await model.countTokens(text, cancellation.token),
    };
  } catch (error) {
    throw error instanceof vscode.LanguageModelError ? new Error(sentenceOf(error, call.model), { cause: error }) : error;
  } finally {
    signal.removeEventListener('abort', cancel);
    cancellation.dispose();
  }
}

async function findModel(name: string): Promise<vscode.LanguageModelChat> {
  const slash = name.indexOf('/');
  const vendor = slash > 0 ? name.slice(0, slash) : undefined;
  const wanted = name.slice(slash + 1);
  if (vendor === VENDOR) throw new Error(vscode.l10n.t('"{0}" is a model of Conductor itself: a worker that asked it would ask itself.', name));
  const models = (await vscode.lm.selectChatModels(vendor === undefined ? {} : { vendor })).filter((offered) => offered.vendor !== VENDOR);
  const model = models.find(({ id }) => id === wanted) ?? models.find(({ family }) => family === wanted);
  if (model) return model;
  const offered = models.map(modelName).join(', ');
  throw new Error(offered
    ? vscode.l10n.t('VS Code offers no model "{0}". It offers: {1}.', name, offered)
    : vscode.l10n.t('VS Code offers no model "{0}". Install or sign in to an extension that brings language models.', name));
}

function sentenceOf(error: vscode.LanguageModelError, model: string): string {
  switch (error.code) {
    case vscode.LanguageModelError.NoPermissions.name:
      return vscode.l10n.t('Conductor may not use the model "{0}": see "Manage Language Model Access" in the accounts menu.', model);
    case vscode.LanguageModelError.Blocked.name:
      return vscode.l10n.t('The model "{0}" refused, because of its quota or its filter: {1}', model, error.message);
    case vscode.LanguageModelError.NotFound.name:
      return vscode.l10n.t('The model "{0}" is no longer there: choose another one in workers.json.', model);
    default:
      return vscode.l10n.t('The model "{0}" failed: {1}', model, error.message);
  }
}
