import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useState } from 'preact/hooks';
import type { PageCommand, PageQuestion, PageReplies, ReplyMessage } from '../backend/protocol/panel-messages.ts';
import type { Picture } from '../backend/protocol/pictures.ts';
import { NO_SEARCH, readSearch, type RunSearch } from './run-search.ts';

/** The part of VS Code's webview API that the page uses. */
export interface WebviewApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

/** State of the page that the user changed. It contains nothing about runs: those come with the next state. */
export interface ViewState {
  /** The current text of the question. */
  readonly draft: string;
  /** The last question from outside the page, so that it is adopted only once. */
  readonly takenDraft: string;
  /** The text in the box under a run's answer. */
  readonly followUp: { readonly runId: string; readonly question: string };
  /** Sections that the user opened or closed, by key. */
  readonly expanded: Readonly<Record<string, boolean>>;
  /** The selected step of each plan, by the plan's key; null if the user closed the details. */
  readonly selected: Readonly<Record<string, number | null>>;
  /** Plans that wait for the user, as the user changed them, by the plan's key; read by who shows them. */
  readonly plans: Readonly<Record<string, unknown>>;
  /** The search over past runs. */
  readonly search: RunSearch;
  readonly scrollTop: number;
}

/** Location of the page: the side bar, or an editor tab. */
export type Place = 'side' | 'editor';

/** A query as a view sends it; the host adds the id for the reply. */
export type Asked<K extends PageQuestion['type']> = Omit<Extract<PageQuestion, { readonly type: K }>, 'ask'>;

const INITIAL: ViewState = {
  draft: '', takenDraft: '', followUp: { runId: '', question: '' }, expanded: {}, selected: {}, plans: {}, search: NO_SEARCH, scrollTop: 0,
};
const MAX_KEPT = 200;
/** A plan is longer than other things that are kept. */
const MAX_PLANS = 10;

/** The page's connection to the extension, and its state that survives a reload. */
export class Host {
  readonly #api: WebviewApi;
  readonly place: Place;
  readonly #waiting = new Map<number, { readonly resolve: (value: never) => void; readonly reject: (error: Error) => void }>();
  #asked = 0;
  #view: ViewState;
  /** By the run that the question continues from. Too large to be stored with each letter that is typed, so a reload loses them. */
  readonly #pictures = new Map<string, readonly Picture[]>();

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

  /** Queries data that is too large for every state update. @throws Error with the extension's sentence */
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

  /** The pictures that go with a question. @param key empty for a new question, else the run that it continues from */
  picturesOf(key: string): readonly Picture[] {
    return this.#pictures.get(key) ?? [];
  }

  attach(key: string, pictures: readonly Picture[]): void {
    this.#pictures.set(key, pictures);
  }

  rememberExpanded(key: string, expanded: boolean): void {
    this.remember({ expanded: withNewest(this.#view.expanded, key, expanded) });
  }

  rememberPlan(key: string, plan: unknown): void {
    this.remember({ plans: withNewest(this.#view.plans, key, plan, MAX_PLANS) });
  }

  rememberSelected(key: string, selected: number | null): void {
    this.remember({ selected: withNewest(this.#view.selected, key, selected) });
  }
}

/** Adds an entry to the record and drops the least recently changed ones. */
function withNewest<T>(record: Readonly<Record<string, T>>, key: string, value: T, most = MAX_KEPT): Record<string, T> {
  const { [key]: _before, ...others } = record;
  return Object.fromEntries([...Object.entries(others), [key, value] as const].slice(-most)) as Record<string, T>;
}

/** Restores a stored state, as far as it is valid: an earlier version may have written it. */
function readViewState(stored: unknown): ViewState {
  if (typeof stored !== 'object' || stored === null) return INITIAL;
  const { draft, takenDraft, followUp, expanded, selected, plans, search, scrollTop } = stored as Record<string, unknown>;
  return {
    draft: typeof draft === 'string' ? draft : INITIAL.draft,
    takenDraft: typeof takenDraft === 'string' ? takenDraft : INITIAL.takenDraft,
    followUp: readFollowUp(followUp),
    expanded: typeof expanded === 'object' && expanded !== null ? (expanded as Record<string, boolean>) : INITIAL.expanded,
    selected: typeof selected === 'object' && selected !== null ? (selected as Record<string, number | null>) : INITIAL.selected,
    plans: typeof plans === 'object' && plans !== null ? (plans as Record<string, unknown>) : INITIAL.plans,
    search: readSearch(search),
    scrollTop: typeof scrollTop === 'number' ? scrollTop : INITIAL.scrollTop,
  };
}

function readFollowUp(stored: unknown): ViewState['followUp'] {
  if (typeof stored !== 'object' || stored === null) return INITIAL.followUp;
  const { runId, question } = stored as Record<string, unknown>;
  return typeof runId === 'string' && typeof question === 'string' ? { runId, question } : INITIAL.followUp;
}

export const HostContext = createContext<Host | undefined>(undefined);

export function useHost(): Host {
  const host = useContext(HostContext);
  if (!host) throw new Error('A view was rendered outside of HostContext.');
  return host;
}

/** Whether a section is open, and a function to change that. `key` is unique on the page. */
export function useExpanded(key: string, initially = false): [boolean, (expanded: boolean) => void] {
  const host = useHost();
  const [byHand, setByHand] = useState<boolean | undefined>(host.view.expanded[key]);
  const change = (next: boolean): void => {
    host.rememberExpanded(key, next);
    setByHand(next);
  };
  return [byHand ?? initially, change];
}

/** The selected step of a plan; null if the user closed the details, undefined if the user has not chosen. `key` is unique on the page. */
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

/** The extension's reply to a query. Queries again when the query changes; sends nothing if it is undefined. */
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
    // `key` represents the query.
  }, [host, key]);
  return reply && reply.key === key ? reply.reply : { state: 'waiting' };
}
