import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import { formatTokens, formatUsd } from '../../backend/protocol/figures.ts';
import { unpricedTokensFor } from '../../backend/protocol/budget-limits.ts';
import type { WorkerStatus } from '../../backend/protocol/methods.ts';
import { messageOf, type BackendConnection } from '../common/backend-connection.ts';
import { addWorkerStep, NextStepError, noWorkerYet, setKeyStep } from '../common/next-step.ts';
import { AdaptivePause } from './adaptive-pause.ts';
import { Backoff } from './backoff.ts';
import { fitSuggestion } from './fit-suggestion.ts';
import { isWorthAsking } from './gap.ts';
import { OutcomeRecord } from './outcome-record.ts';
import { placeAt } from './place-at.ts';
import { readSuggestSettings, SECTION, setEnabled } from './suggest-settings.ts';
import { SuggestionCache } from './suggestion-cache.ts';
import { SuggestionFlow } from './suggestion-flow.ts';
import { SuggestionSource, type Place } from './suggestion-source.ts';
import { SuggestionState } from './suggestion-state.ts';
import { SuggestionStatus } from './suggestion-status.ts';
import { WorkRecord } from './work-record.ts';

export interface SuggestionsOptions {
  readonly connection: BackendConnection;
  /** Stores that the user has confirmed what suggestions send and cost. */
  readonly memory: vscode.Memento;
  /** Whether the document shows other ghost text. */
  readonly isTaken: (document: vscode.TextDocument) => boolean;
  readonly log: (line: string) => void;
}

/** Another name than before other parts of the project were sent: who agreed to less is told once more. */
const EXPLAINED_KEY = 'conductor.suggestionsExplained.project';
/** VS Code runs it when it has inserted a suggestion. It is in no palette. */
const ACCEPTED = 'conductor.suggestionAccepted';
const FILES: vscode.DocumentSelector = { scheme: 'file' };

/** Suggestions while typing. The status bar shows their state and their errors; there are no notifications. */
export class Suggestions implements vscode.InlineCompletionItemProvider {
  readonly #options: SuggestionsOptions;
  readonly #state = new SuggestionState();
  readonly #status: SuggestionStatus;
  readonly #cache = new SuggestionCache();
  readonly #flow: SuggestionFlow<Place>;
  readonly #backoff = new Backoff(Date.now);
  readonly #work = new WorkRecord();
  readonly #outcomes: OutcomeRecord;
  /** Exists only while suggestions are on, so that they cost nothing at each key when off. */
  #registration: vscode.Disposable | undefined;

  constructor(options: SuggestionsOptions) {
    this.#options = options;
    const { connection } = options;
    this.#outcomes = new OutcomeRecord({
      now: Date.now,
      // A count that is lost is no loss, and no reason to start a backend.
      report: (outcome) => void connection.request('suggest/outcome', outcome).catch(() => undefined),
    });
    const source = new SuggestionSource({
      connection,
      around: ({ path, line }) => this.#work.around(path, line),
      onResult: (result, place) => {
        this.#state.answered(result);
        const { workspace, language, document } = place;
        if (result.worker) this.#outcomes.answered({ workspace, language, document, worker: result.worker.id, text: result.text });
      },
    });
    this.#flow = new SuggestionFlow<Place>({
      ask: (place, onText, signal) => this.#ask(source, place, onText, signal),
      pause: new AdaptivePause(),
      cache: this.#cache,
      wait: (ms, signal) => delay(ms, undefined, { signal }),
      now: Date.now,
    });
    this.#status = new SuggestionStatus(this.#state);
  }

  /** Follows the setting and the workspace's trust until the subscription is disposed. */
  watch(): vscode.Disposable {
    this.#follow();
    return vscode.Disposable.from(
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(SECTION)) this.#follow();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#follow()),
      vscode.workspace.onDidChangeTextDocument((event) => this.#changed(event)),
      this.#status,
      { dispose: () => this.#stop() },
    );
  }

  /** Toggles suggestions. Before the first time, shows what they send and cost. */
  async toggle(): Promise<void> {
    const { enabled } = readSuggestSettings();
    if (enabled || (await this.#explained())) await setEnabled(!enabled);
  }

  /** Forgets which suggestions were accepted. */
  async forget(): Promise<void> {
    await this.#options.connection.request('suggest/forget', {});
    void vscode.window.showInformationMessage(vscode.l10n.t('Conductor has forgotten which suggestions were accepted.'));
  }

  async provideInlineCompletionItems(
    document: vscode.TextDocument, position: vscode.Position, context: vscode.InlineCompletionContext,
    token: vscode.CancellationToken,
  ): Promise<vscode.InlineCompletionItem[]> {
    const isAsked = context.triggerKind === vscode.InlineCompletionTriggerKind.Invoke;
    const selected = context.selectedCompletionInfo;
    const place = placeAt(document, position, selected);
    if (!place || this.#options.isTaken(document) || !this.#mayAsk(document, place, isAsked)) return [];
    const controller = new AbortController();
    const listening = token.onCancellationRequested(() => controller.abort());
    if (token.isCancellationRequested) controller.abort();
    try {
      const text = await this.#flow.suggest(place, controller.signal, { atOnce: isAsked });
      const fitted = text === undefined ? undefined : fitSuggestion(text, place);
      if (token.isCancellationRequested) return [];
      if (text === undefined || !fitted) {
        this.#outcomes.left();
        return [];
      }
      const range = selected?.range ?? new vscode.Range(position, position);
      const end = range.end.translate(0, fitted.replaces);
      // With a selected completion entry, VS Code shows only suggestions that begin with the entry and replace the same range.
      if (selected && fitted.replaces > 0) return [];
      this.#outcomes.offered(place.document, text);
      const item = new vscode.InlineCompletionItem((selected?.text ?? '') + fitted.text, range.with({ end }), { command: ACCEPTED, title: '' });
      return [item];
    } catch {
      // The status bar shows the error.
      return [];
    } finally {
      listening.dispose();
    }
  }

  #mayAsk(document: vscode.TextDocument, place: Place, isAsked: boolean): boolean {
    if (isAsked) return true;
    const { state } = this.#options.connection;
    // Typing must not restart a backend that the user stopped or that could not start.
    if (state.kind === 'stopped' || state.kind === 'unavailable' || this.#backoff.isResting) return false;
    return readSuggestSettings(document).inLanguage && isWorthAsking(place);
  }

  async #ask(source: SuggestionSource, place: Place, onText: (text: string) => void, signal: AbortSignal): Promise<string> {
    const end = this.#state.begin();
    try {
      const text = await source.ask(place, onText, signal);
      this.#backoff.worked();
      end('answered');
      return text;
    } catch (error) {
      if (signal.aborted) {
        end('cancelled');
      } else {
        this.#backoff.failed();
        this.#options.log(`No suggestion: ${messageOf(error)}`);
        end({ problem: messageOf(error) });
      }
      throw error;
    }
  }

  #changed({ document, contentChanges: [change] }: vscode.TextDocumentChangeEvent): void {
    if (!change || !this.#flow.isAsking) return;
    const place = placeAt(document, document.positionAt(change.rangeOffset + change.text.length), undefined);
    if (place) this.#flow.changed(place);
  }

  #follow(): void {
    const { enabled } = readSuggestSettings();
    const { isTrusted } = vscode.workspace;
    this.#stop();
    // Another worker or limit may give a different result.
    this.#cache.clear();
    this.#backoff.worked();
    if (enabled && isTrusted) {
      this.#registration = vscode.Disposable.from(
        vscode.languages.registerInlineCompletionItemProvider(FILES, this),
        vscode.commands.registerCommand(ACCEPTED, () => this.#outcomes.accepted()),
        this.#work.watch(),
      );
    }
    this.#state.switched({ isOn: enabled, isTrusted });
  }

  #stop(): void {
    this.#registration?.dispose();
    this.#registration = undefined;
    this.#flow.cancel();
  }

  async #explained(): Promise<boolean> {
    const { connection, memory } = this.#options;
    if (memory.get<boolean>(EXPLAINED_KEY)) return true;
    const { workers } = await connection.request('pool/get', {});
    const ready = workers.filter((status) => status.ready && status.worker.enabled);
    const namesOf = (some: readonly WorkerStatus[]): string => some.map(({ worker }) => worker.id).join(', ');
    if (workers.length === 0) throw noWorkerYet();
    if (ready.length === 0) {
      throw new NextStepError(vscode.l10n.t('No worker is ready to suggest: a key is missing, or each is switched off.'), setKeyStep(), addWorkerStep());
    }
    const unpriced = ready.filter(({ priced }) => !priced);
    const { maxUsdPerDay } = readSuggestSettings();
    const accept = vscode.l10n.t('Switch On');
    const detail = [
      vscode.l10n.t('While you type, the code around your cursor is sent to one of your workers: {0}.', namesOf(ready)),
      vscode.l10n.t(
        'Other parts of the project go with it, 1,500 tokens at most: signatures of names that the code may need, parts of open files that look like it, and your last edits. A setting leaves them out.',
      ),
      vscode.l10n.t('The Conductor chooses it once for each language and project; a setting can name it instead.'),
      vscode.l10n.t('Ignored files and lines that look like secrets are never sent.'),
      vscode.l10n.t(
        'Each suggestion costs what the worker charges. Suggestions stop at {0} a day; a setting changes this limit.',
        formatUsd(maxUsdPerDay),
      ),
      ...(unpriced.length === 0 ? [] : [vscode.l10n.t(
        'Unpriced: {0}. Their suggestions stop at {1} tokens a day.',
        namesOf(unpriced), formatTokens(unpricedTokensFor(maxUsdPerDay)),
      )]),
    ].join('\n\n');
    const title = vscode.l10n.t('Suggestions while you type');
    const chosen = await vscode.window.showInformationMessage(title, { modal: true, detail }, accept);
    if (chosen !== accept) return false;
    await memory.update(EXPLAINED_KEY, true);
    return true;
  }
}
