import { render } from 'preact';
import { act } from 'preact/test-utils';
import type { PageMessage, PageQuestion, PanelState } from '../../backend/protocol/panel-messages.ts';
import { Host, HostContext, type Place } from '../../webview/host.ts';
import { Panel } from '../../webview/panel.tsx';
import { share } from '../../webview/share.ts';

/*
 * The panel in jsdom, without the toolkit: its elements are unknown there and behave as plain ones with the same text and clicks.
 */

export interface RenderedPanel {
  readonly root: HTMLElement;
  readonly posted: readonly PageMessage[];
  /** What the page would find after a reload. */
  readonly stored: () => unknown;
  /** Takes a state as the page gets it: as a clone. */
  show(state: PanelState): void;
  /** Replies to the last question that the page asked, with a value or with why there is none. */
  reply(value: unknown): Promise<void>;
  button(name: string | RegExp): HTMLElement;
  click(name: string | RegExp): void;
  /** Opens whatever is closed or cut short, and then what that held. */
  openAll(): void;
  text(): string;
}

/** jsdom lays nothing out and draws nothing: all cards are of height 0, everything is of one width, and nothing ever changes its size. */
export function stubLayout(width = 0): void {
  Object.defineProperty(HTMLElement.prototype, 'clientWidth', { configurable: true, get: () => width });
  globalThis.ResizeObserver = class {
    observe(): void {}
    unobserve(): void {}
    disconnect(): void {}
  };
  window.scrollTo = () => {};
  HTMLCanvasElement.prototype.getContext = () => null;
}

export function renderPanel(state: PanelState, stored?: unknown, place: Place = 'side'): RenderedPanel {
  const root = document.createElement('div');
  document.body.replaceChildren(root);
  const posted: PageMessage[] = [];
  let memory = stored;
  const host = new Host({
    postMessage: (message) => posted.push(message as PageMessage),
    getState: () => memory,
    setState: (next) => { memory = structuredClone(next); },
  }, place);
  let shown: PanelState | undefined;
  const panel: RenderedPanel = {
    root,
    posted,
    stored: () => memory,
    show(next) {
      // As a message brings it: what was one object in two places is two.
      shown = share(shown, JSON.parse(JSON.stringify(next)) as PanelState);
      const current = shown;
      void act(() => render(<HostContext.Provider value={host}><Panel state={current} /></HostContext.Provider>, root));
    },
    async reply(value) {
      const question = posted.findLast((message): message is PageQuestion => 'ask' in message);
      if (!question) throw new Error('The page has asked nothing.');
      const { ask } = question;
      await act(async () => host.replied({ type: 'reply', ask, ...(value instanceof Error ? { problem: value.message } : { value }) }));
    },
    button(name) {
      const matches = [...root.querySelectorAll<HTMLElement>('button, vscode-button')].filter((element) => {
        const label = element.getAttribute('aria-label') ?? element.textContent;
        return typeof name === 'string' ? label === name : name.test(label);
      });
      const [match] = matches;
      if (!match) throw new Error(`There is no button "${name}" in: ${root.textContent}`);
      return match;
    },
    click(name) {
      void act(() => panel.button(name).click());
    },
    openAll() {
      for (let depth = 0; depth < 3; depth += 1) {
        const closed = root.querySelectorAll<HTMLElement>('button[aria-expanded="false"], .show-all');
        void act(() => closed.forEach((button) => button.click()));
      }
    },
    text: () => (root.textContent ?? '').replace(/\s+/g, ' '),
  };
  panel.show(state);
  return panel;
}
