import { createContext } from 'preact';
import { useContext, useState } from 'preact/hooks';
import type { PageMessage } from '../backend/protocol/panel-messages.ts';

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
  readonly scrollTop: number;
}

const INITIAL: ViewState = { draft: '', takenDraft: '', expanded: {}, scrollTop: 0 };
const MAX_EXPANDED = 200;

/** The page's connection to the extension, and the memory that outlives a reload. */
export class Host {
  readonly #api: WebviewApi;
  #view: ViewState;

  constructor(api: WebviewApi) {
    this.#api = api;
    this.#view = readViewState(api.getState());
  }

  get view(): ViewState {
    return this.#view;
  }

  post(message: PageMessage): void {
    this.#api.postMessage(message);
  }

  remember(change: Partial<ViewState>): void {
    this.#view = { ...this.#view, ...change };
    this.#api.setState(this.#view);
  }

  rememberExpanded(key: string, expanded: boolean): void {
    const { [key]: _before, ...others } = this.#view.expanded;
    this.remember({ expanded: Object.fromEntries([...Object.entries(others), [key, expanded]].slice(-MAX_EXPANDED)) });
  }
}

/** What an earlier version stored is taken as far as it fits. */
function readViewState(stored: unknown): ViewState {
  if (typeof stored !== 'object' || stored === null) return INITIAL;
  const { draft, takenDraft, expanded, scrollTop } = stored as Record<string, unknown>;
  return {
    draft: typeof draft === 'string' ? draft : INITIAL.draft,
    takenDraft: typeof takenDraft === 'string' ? takenDraft : INITIAL.takenDraft,
    expanded: typeof expanded === 'object' && expanded !== null ? (expanded as Record<string, boolean>) : INITIAL.expanded,
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
