import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useState } from 'preact/hooks';
import type { PageCommand, PageQuestion, PageReplies, ReplyMessage } from '../backend/protocol/panel-messages.ts';
import { NO_SEARCH, readSearch, type RunSearch } from './run-search.ts';

/** The part of VS Code's webview API that the page uses. */
export interface WebviewApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

/** What a person did to the page itself. Nothing about runs is kept here: those come with the next state. */
export interface ViewState {
  /** The question as typed so far. */
  readonly draft: string;
  /** The last question that came from outside the page, so that it is taken over once. */
  readonly takenDraft: string;
  /** What was opened or closed by hand, by key. */
  readonly expanded: Readonly<Record<string, boolean>>;
  /** The step that was selected in a plan, by the plan's key; null where none is to be. */
  readonly selected: Readonly<Record<string, number | null>>;
  /** Which of the past runs are looked for. */
  readonly search: RunSearch;
  readonly scrollTop: number;
}

/** Where the page stands: the side bar, or a tab among the editors. */
export type Place = 'side' | 'editor';

/** A question as a view asks it: the number of its reply is the host's. */
export type Asked<K extends PageQuestion['type']> = Omit<Extract<PageQuestion, { readonly type: K }>, 'ask'>;

const INITIAL: ViewState = { draft: '', takenDraft: '', expanded: {}, selected: {}, search: NO_SEARCH, scrollTop: 0 };
const MAX_KEPT = 200;

/** The page's connection to the extension, and the memory that outlives a reload. */
export class Host {
  readonly #api: WebviewApi;
  readonly place: Place;
  readonly #waiting = new Map<number, { readonly resolve: (value: never) => void; readonly reject: (error: Error) => void }>();
  #asked = 0;
  #view: ViewState;

  constructor(api: WebviewApi, place: Place = 'side') {
    this.#api = api;
    this.place = place;
    this.#view = readViewState(api.getState());
  }

  get view(): ViewState {
    return this.#view;
  }

  post(command: PageCommand): void {
    this.#api.postMessage(command);
  }

  /** Asks for what is too much for each state. @throws Error with the extension's sentence */
  ask<K extends PageQuestion['type']>(question: Asked<K>): Promise<PageReplies[K]> {
    this.#asked += 1;
    const ask = this.#asked;
    const reply = new Promise<PageReplies[K]>((resolve, reject) => this.#waiting.set(ask, { resolve, reject }));
    this.#api.postMessage({ ...question, ask });
    return reply;
  }

  replied({ ask, value, problem }: ReplyMessage): void {
    const waiting = this.#waiting.get(ask);
    this.#waiting.delete(ask);
    if (problem !== undefined) waiting?.reject(new Error(problem));
    else waiting?.resolve(value as never);
  }

  remember(change: Partial<ViewState>): void {
    this.#view = { ...this.#view, ...change };
    this.#api.setState(this.#view);
  }

  rememberExpanded(key: string, expanded: boolean): void {
    this.remember({ expanded: withNewest(this.#view.expanded, key, expanded) });
  }

  rememberSelected(key: string, selected: number | null): void {
    this.remember({ selected: withNewest(this.#view.selected, key, selected) });
  }
}

/** The record with one more entry, without those that were not touched for long. */
function withNewest<T>(record: Readonly<Record<string, T>>, key: string, value: T): Record<string, T> {
  const { [key]: _before, ...others } = record;
  return Object.fromEntries([...Object.entries(others), [key, value] as const].slice(-MAX_KEPT)) as Record<string, T>;
}

/** What an earlier version stored is taken as far as it fits. */
function readViewState(stored: unknown): ViewState {
  if (typeof stored !== 'object' || stored === null) return INITIAL;
  const { draft, takenDraft, expanded, selected, search, scrollTop } = stored as Record<string, unknown>;
  return {
    draft: typeof draft === 'string' ? draft : INITIAL.draft,
    takenDraft: typeof takenDraft === 'string' ? takenDraft : INITIAL.takenDraft,
    expanded: typeof expanded === 'object' && expanded !== null ? (expanded as Record<string, boolean>) : INITIAL.expanded,
    selected: typeof selected === 'object' && selected !== null ? (selected as Record<string, number | null>) : INITIAL.selected,
    search: readSearch(search),
    scrollTop: typeof scrollTop === 'number' ? scrollTop : INITIAL.scrollTop,
  };
}

export const HostContext = createContext<Host | undefined>(undefined);

export function useHost(): Host {
  const host = useContext(HostContext);
  if (!host) throw new Error('A view was rendered outside of HostContext.');
  return host;
}

/** Whether something is open, as the person left it, and how to change that. `key` is unique on the page. */
export function useExpanded(key: string, initially = false): [boolean, (expanded: boolean) => void] {
  const host = useHost();
  const [byHand, setByHand] = useState<boolean | undefined>(host.view.expanded[key]);
  const change = (next: boolean): void => {
    host.rememberExpanded(key, next);
    setByHand(next);
  };
  return [byHand ?? initially, change];
}

/** The step that a person selected in a plan; null: none is to be, undefined: they have not said. `key` is unique on the page. */
export function useSelected(key: string): [number | null | undefined, (step: number | null) => void] {
  const host = useHost();
  const [selected, setSelected] = useState<number | null | undefined>(host.view.selected[key]);
  const change = useCallback((step: number | null): void => {
    host.rememberSelected(key, step);
    setSelected(step);
  }, [host, key]);
  return [selected, change];
}

export type Reply<T> =
  | { readonly state: 'waiting' }
  | { readonly state: 'there'; readonly value: T }
  | { readonly state: 'none'; readonly problem: string };

/** What the extension replies to a question; asked again when the question changes, and not at all without one. */
export function useReply<K extends PageQuestion['type']>(question: Asked<K> | undefined): Reply<PageReplies[K]> {
  const host = useHost();
  const key = JSON.stringify(question);
  const [reply, setReply] = useState<{ readonly key: string | undefined; readonly reply: Reply<PageReplies[K]> }>();
  useEffect(() => {
    if (question === undefined) return undefined;
    let wanted = true;
    const take = (taken: Reply<PageReplies[K]>): void => {
      if (wanted) setReply({ key, reply: taken });
    };
    host.ask(question).then(
      (value) => take({ state: 'there', value }),
      (error: unknown) => take({ state: 'none', problem: error instanceof Error ? error.message : String(error) }),
    );
    return () => { wanted = false; };
    // The key stands for the question.
  }, [host, key]);
  return reply && reply.key === key ? reply.reply : { state: 'waiting' };
}
