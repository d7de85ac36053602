import type { SuggestRequest, SuggestResult } from '../../backend/protocol/suggestions.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { isComplete } from './fit-suggestion.ts';
import type { Gap } from './gap.ts';

/** A gap with the data that the backend needs. */
export interface Place extends Gap {
  /** Absolute paths. */
  readonly workspace: string;
  readonly path: string;
  /** The cursor's, from 0. */
  readonly line: number;
  /** The language id in VS Code. */
  readonly language: string;
  readonly trusted: boolean;
  /** The worker from the settings. */
  readonly worker: string | undefined;
  readonly maxUsdPerDay: number;
  /** Whether other parts of the project may be sent, too. */
  readonly project: boolean;
}

/** What is open and was edited, asked for only when a request leaves. */
export type WorkAround = (place: Place) => Pick<SuggestRequest, 'openFiles' | 'edits'>;

export interface SuggestionSourceOptions {
  readonly connection: Pick<BackendConnection, 'request' | 'on'>;
  readonly around: WorkAround;
  readonly onResult: (result: SuggestResult, place: Place) => void;
}

/** Suggestions from the backend. Ends the request as soon as the suggestion is complete, which also stops the worker. */
export class SuggestionSource {
  readonly #options: SuggestionSourceOptions;
  readonly #listening = new Map<string, (soFar: SuggestResult) => void>();
  #count = 0;

  constructor(options: SuggestionSourceOptions) {
    this.#options = options;
    options.connection.on('suggest/text', ({ requestId, ...soFar }) => this.#listening.get(requestId)?.(soFar));
  }

  /** @throws the backend's refusal with a sentence for users; the signal's reason */
  async ask(place: Place, onText: (text: string) => void, signal: AbortSignal): Promise<string> {
    const { connection, around, onResult } = this.#options;
    this.#count += 1;
    const requestId = String(this.#count);
    const enough = new AbortController();
    let complete: SuggestResult | undefined;
    this.#listening.set(requestId, (soFar) => {
      onText(soFar.text);
      if (complete || !isComplete(soFar.text, place)) return;
      complete = soFar;
      enough.abort(new Error('The suggestion is complete.'));
    });
    try {
      const { document: _document, line: _line, worker, ...fields } = place;
      const work = place.project ? around(place) : { openFiles: [], edits: [] };
      const params = { ...fields, ...work, requestId, ...(worker !== undefined && { worker }) };
      const result = await connection.request('suggest/complete', params, AbortSignal.any([signal, enough.signal]));
      onResult(result, place);
      return result.text;
    } catch (error) {
      if (!complete || signal.aborted) throw error;
      onResult(complete, place);
      return complete.text;
    } finally {
      this.#listening.delete(requestId);
    }
  }
}
