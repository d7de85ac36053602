import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { EvaluationPageState } from '../../../backend/protocol/evaluation-page.ts';
import type { PageReplies, PanelState, StateMessage } from '../../../backend/protocol/panel-messages.ts';
import { panelHtml, type Place } from '../../../extension/common/panel-html.ts';
import type { Theme } from './themes.ts';

/*
 * The built page in a browser, as VS Code would load it: the extension's own HTML with its content security policy, the theme's
 * variables on the root element, and a stand-in for VS Code's API that keeps what the page says.
 */

const ORIGIN = 'http://panel.test';
const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css', '.ttf': 'font/ttf' };

export interface PanelPage {
  readonly page: Page;
  show(state: PanelState | EvaluationPageState, sentAt: number): Promise<void>;
  /** Opens whatever is closed, and then what that held. */
  openAll(): Promise<void>;
  /** What the page has posted so far. */
  posted(): Promise<unknown[]>;
  /** What went wrong in the page: errors, and violations of its policy. */
  readonly problems: readonly string[];
}

interface FakeVsCode {
  posted: unknown[];
  state: unknown;
}

export async function openPanel(browser: Browser, {
  dist, bundle = 'webview', theme, width, height = 900, viewState, reducedMotion = true, forcedColors = false, texts, place = 'side', replies = {},
}: {
  /** Folder of the built page. */
  dist: string;
  /** The page: the panel's, or that of an evaluation. */
  bundle?: 'webview' | 'evaluation';
  theme: Theme; width: number; height?: number; viewState?: unknown; reducedMotion?: boolean; forcedColors?: boolean;
  /** Of another language, by the English ones. */
  texts?: Readonly<Record<string, string>>;
  place?: Place;
  /** What the page is replied, by its question's type. */
  replies?: Partial<PageReplies>;
}): Promise<PanelPage> {
  const page = await browser.newPage({
    viewport: { width, height },
    deviceScaleFactor: 1.5,
    reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
    ...(forcedColors && { forcedColors: 'active' as const }),
  });
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  await page.addInitScript(({ variables, viewState, replies }) => {
    const fake: FakeVsCode = { posted: [], state: viewState };
    Object.assign(window, {
      fakeVsCode: fake,
      acquireVsCodeApi: () => ({
        postMessage: (message: { readonly type: string; readonly ask?: number }) => {
          fake.posted.push(message);
          if (message.ask === undefined) return;
          const value = (replies as Readonly<Record<string, unknown>>)[message.type];
          window.postMessage({ type: 'reply', ask: message.ask, ...(value === undefined ? { problem: 'Nobody replies here.' } : { value }) });
        },
        getState: () => fake.state,
        setState: (state: unknown) => { fake.state = state; },
      }),
    });
    // The root element does not exist yet; VS Code, too, has set its variables before the page's scripts run.
    new MutationObserver((_changes, observer) => {
      if (!document.documentElement) return;
      observer.disconnect();
      const { style } = document.documentElement;
      for (const [name, value] of Object.entries(variables)) style.setProperty(`--vscode-${name}`, value);
    }).observe(document, { childList: true });
  }, { variables: theme.variables, viewState, replies });

  await page.route(`${ORIGIN}/**`, async (route) => {
    const file = new URL(route.request().url()).pathname;
    if (file === '/') {
      const html = panelHtml({
        cspSource: ORIGIN, nonce: 'nonce', scriptUri: `${ORIGIN}/${bundle}.js`, styleUris: [`${ORIGIN}/${bundle}.css`],
        title: 'Conductor', language: texts ? 'de' : 'en', texts, place,
      });
      return route.fulfill({ contentType: 'text/html', body: html.replace('<body>', `<body class="${theme.bodyClass}">`) });
    }
    const contentType = TYPES[path.extname(file)];
    if (!contentType) return route.fulfill({ status: 404 });
    return route.fulfill({ contentType, body: await readFile(path.join(dist, path.basename(file))) });
  });
  await page.goto(ORIGIN);
  // What VS Code puts behind every view in the side bar, and behind every editor.
  const background = `var(--vscode-${place === 'side' ? 'sideBar' : 'editor'}-background)`;
  await page.evaluate((color) => { document.documentElement.style.backgroundColor = color; }, background);

  return {
    page,
    problems,
    async show(state, sentAt) {
      const message = { type: 'state', sentAt, number: 1, state } satisfies Omit<StateMessage, 'state'> & { state: unknown };
      await page.evaluate((data) => window.postMessage(data), message);
      await page.waitForSelector('main');
      await page.evaluate(async () => {
        await document.fonts.ready;
        // Two frames: the cards are laid out in one, and their edges drawn in the next.
        for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
      });
    },
    async openAll() {
      const closed = page.locator('button[aria-expanded="false"]');
      for (let round = 0; round < 3; round += 1) {
        await closed.evaluateAll((buttons) => buttons.forEach((button) => (button as HTMLButtonElement).click()));
        await page.evaluate(() => new Promise(requestAnimationFrame));
      }
    },
    posted: () => page.evaluate(() => (window as unknown as { fakeVsCode: FakeVsCode }).fakeVsCode.posted),
  };
}
