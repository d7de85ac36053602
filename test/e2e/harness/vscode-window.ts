import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, FrameLocator, Locator, Page } from 'playwright-core';
import type { VsCodeServer } from './vscode-server.ts';

export interface DevelopmentOptions {
  /** Folders of unpacked extensions to load. */
  readonly extensions?: readonly string[];
  /** A module whose `run()` VS Code calls inside the extension host, and then ends. */
  readonly tests?: string;
}

export interface WindowOptions extends DevelopmentOptions {
  readonly width?: number;
  readonly height?: number;
  /** Pixels of a screenshot for one of the page. */
  readonly scale?: number;
  /** Called with the page before it loads. */
  readonly prepare?: (page: Page) => Promise<void>;
}

/** A window of VS Code as a person sees it: everything by what is on the screen, nothing by VS Code's inner state. */
export class VsCodeWindow {
  readonly page: Page;
  /** What the page has written to its console, for the artifacts of a failure. */
  readonly console: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.on('console', (message) => this.console.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => this.console.push(`error: ${error.message}`));
  }

  /** Opens a folder in a browser profile of its own and waits until VS Code stands. */
  static async open(
    browser: Browser, server: VsCodeServer, workspace: string, options: WindowOptions = {},
  ): Promise<VsCodeWindow> {
    const { width = 1_280, height = 800, scale = 1 } = options;
    const context = await browser.newContext({
      viewport: { width, height },
      deviceScaleFactor: scale,
      colorScheme: 'dark',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const window = new VsCodeWindow(await context.newPage());
    await setDevelopmentOptions(window.page, server, options);
    await options.prepare?.(window.page);
    await window.page.goto(server.urlOf(workspace));
    await window.ready();
    return window;
  }

  async ready(): Promise<void> {
    await this.page.locator('.monaco-workbench .statusbar').waitFor({ timeout: 60_000 });
  }

  /** As a user's browser reload: the page goes, the server and its extension host stay for a while. */
  async reload(): Promise<void> {
    await this.page.reload();
    await this.ready();
  }

  /**
   * Waits until VS Code has saved that an editor of this type is open, and a state of its page in which `state` is found. In a browser it
   * saves every few seconds and not when its page goes, and nothing on the screen says so.
   */
  async untilEditorIsSaved(viewType: string, state: RegExp, timeoutMs = 60_000): Promise<void> {
    for (const endsAt = Date.now() + timeoutMs; Date.now() < endsAt; await this.page.waitForTimeout(250)) {
      // The state is JSON within JSON, twice.
      const layouts = (await this.#savedEditors()).map((layout) => layout.replaceAll('\\', ''));
      if (layouts.some((layout) => layout.includes(viewType) && state.test(layout))) return;
    }
    throw new Error(`VS Code did not save that ${viewType} is open.`);
  }

  /** The layouts of editors that VS Code keeps in the browser's storage. */
  async #savedEditors(): Promise<string[]> {
    return this.page.evaluate(async () => {
      const layouts: string[] = [];
      for (const { name = '', version } of await indexedDB.databases()) {
        if (!name.startsWith('vscode-web-state-db')) continue;
        const layout = await new Promise<unknown>((resolve, reject) => {
          const opening = indexedDB.open(name, version);
          opening.onerror = () => reject(opening.error ?? new Error(`${name} cannot be opened.`));
          opening.onsuccess = () => {
            const reading = opening.result.transaction('ItemTable').objectStore('ItemTable').get('memento/workbench.parts.editor');
            reading.onsuccess = () => resolve(reading.result);
            reading.onerror = () => reject(reading.error ?? new Error(`${name} cannot be read.`));
            opening.result.close();
          };
        });
        if (typeof layout === 'string') layouts.push(layout);
      }
      return layouts;
    });
  }

  async close(): Promise<void> {
    await unload(this.page);
    await this.page.context().close();
  }

  get quickInput(): Locator {
    return this.page.locator('.quick-input-widget');
  }

  /** The line that the palette, or a question of an extension, shows for typing. */
  get quickInputBox(): Locator {
    return this.quickInput.locator('.quick-input-box input');
  }

  quickPickRow(text: string | RegExp): Locator {
    return this.#quickPickRows.filter({ hasText: text }).first();
  }

  get #quickPickRows(): Locator {
    return this.quickInput.locator('.quick-input-list .monaco-list-row');
  }

  /** Runs a command by the title that the palette shows, such as "Conductor: Solve". */
  async runCommand(title: string): Promise<void> {
    await this.#pick(`>${title}`, this.#quickPickRows.filter({ has: this.page.getByText(title, { exact: true }) }).first());
  }

  /**
   * Types `text` into the palette and clicks `row`.
   * Extensions contribute their commands after the first paint, which an open palette does not notice, and a view that takes the
   * focus closes the palette: it is opened again until the row is clicked, with twice the patience each time.
   */
  async #pick(text: string, row: Locator): Promise<void> {
    for (let timeout = 1_500; ; timeout *= 2) {
      try {
        await this.#fillPalette(text, timeout);
        await row.waitFor({ timeout });
        await row.click({ timeout });
        return;
      } catch (error) {
        if (timeout > 20_000) throw error;
        await this.page.keyboard.press('Escape');
      }
    }
  }

  /**
   * Opens the palette by the title bar: a key press reaches nobody while VS Code starts, changes its trust, or has left the focus
   * in a frame of a webview.
   */
  async #fillPalette(text: string, timeout = 30_000): Promise<void> {
    const titleBar = this.page.locator('.command-center').locator('.agent-status-input-area, .command-center-quick-pick');
    await titleBar.locator('visible=true').first().click();
    await this.quickInputBox.fill(text, { timeout });
  }

  /** Types into the input that asks `prompt` and confirms. */
  async answerInput(prompt: string | RegExp, text: string): Promise<void> {
    await this.quickInput.filter({ hasText: prompt }).waitFor();
    await this.quickInputBox.fill(text);
    await this.page.keyboard.press('Enter');
  }

  /** Accepts what a pick has ticked or chosen. In its box, because a pick that has just come may not have the focus yet. */
  async acceptPick(): Promise<void> {
    await this.quickInputBox.press('Enter');
  }

  /** Opens a file of the workspace by its name. */
  async openFile(file: string): Promise<void> {
    // The palette without its ">" searches files.
    await this.#pick(file, this.quickPickRow(path.basename(file)));
    await this.tab(path.basename(file)).waitFor();
  }

  /** Puts the cursor into the open file; both count from 1. */
  async goTo(line: number, column: number): Promise<void> {
    // Enter before the row is there would be lost.
    await this.#pick(`:${line}:${column}`, this.quickPickRow('to go to line'));
    await this.quickInput.waitFor({ state: 'hidden' });
  }

  /** Types where the cursor is, key by key, as quickly as people do. */
  async type(text: string): Promise<void> {
    await this.page.keyboard.type(text, { delay: 40 });
  }

  /** What is suggested at the cursor and not part of the document; empty where nothing is. */
  async ghostText(): Promise<string> {
    const pieces = await this.page.locator('.ghost-text-decoration, .ghost-text-decoration-preview, .suggest-preview-text').allTextContents();
    // The editor writes spaces that do not break.
    return pieces.join('').replaceAll('\u00a0', ' ');
  }

  tab(name: string | RegExp): Locator {
    return this.page.getByRole('tab', { name });
  }

  /** Of the editors alone: VS Code calls the icons of its views tabs, too. */
  editorTab(name: string | RegExp): Locator {
    return this.page.locator('.tabs-container').getByRole('tab', { name });
  }

  /** The text areas of code; a diff has two. */
  get editors(): Locator {
    return this.page.locator('.editor-group-container .monaco-editor[role="code"]');
  }

  notification(text: string | RegExp): Locator {
    return this.page.locator('.notifications-toasts .notification-list-item').filter({ hasText: text }).first();
  }

  /** Of the context menu that is open. */
  menuItem(name: string): Locator {
    return this.page.locator('.context-view').getByRole('menuitem', { name });
  }

  /** Chooses an entry of the menu that is open: VS Code lets a click on one that has only just opened pass. */
  async chooseMenuItem(name: string): Promise<void> {
    const item = this.menuItem(name);
    await item.waitFor();
    for (let attempt = 0; attempt < 20; attempt += 1) {
      await item.click({ timeout: 1_000 }).catch(() => {});
      if (await item.waitFor({ state: 'hidden', timeout: 1_000 }).then(() => true, () => false)) return;
    }
    throw new Error(`The menu entry "${name}" takes no click.`);
  }

  /** A file, suite or test in the Test Explorer. */
  testItem(text: string | RegExp): Locator {
    return this.page.locator('.test-explorer-tree .monaco-list-row').filter({ hasText: text }).first();
  }

  /** A dialog that stops everything else until it is answered. */
  modal(text: string | RegExp): Locator {
    return this.page.locator('.monaco-dialog-box').filter({ hasText: text });
  }

  async answerModal(text: string | RegExp, button: string): Promise<void> {
    const modal = this.modal(text);
    await modal.getByRole('button', { name: button, exact: true }).click();
    await modal.waitFor({ state: 'detached' });
  }

  /** An item of the status bar, by the name that screen readers are told. */
  statusItem(name: string | RegExp): Locator {
    return this.page.locator('.statusbar').getByRole('button', { name });
  }

  /** Leaves Restricted Mode the way a user does, by its item in the status bar. */
  async trustWorkspace(): Promise<void> {
    const restricted = this.page.locator('.statusbar-item').filter({ hasText: 'Restricted Mode' });
    await restricted.click();
    await this.page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).click();
    await restricted.waitFor({ state: 'detached' });
  }

  /** The page inside a webview: VS Code wraps it in two frames. `index` counts the webviews that are shown. */
  webview(index = 0): FrameLocator {
    return this.page.frameLocator('iframe.webview.ready').nth(index).frameLocator('iframe#active-frame');
  }

  /** Conductor's page in the side bar or in an editor's tab. Which of the frames that is depends on what was opened first. */
  async panelFrame(place: 'side' | 'editor', timeoutMs = 30_000): Promise<FrameLocator> {
    const frames = this.page.locator('iframe.webview.ready');
    for (const endsAt = Date.now() + timeoutMs; Date.now() < endsAt; await this.page.waitForTimeout(100)) {
      for (let index = 0; index < await frames.count(); index += 1) {
        const frame = this.webview(index);
        if (await frame.locator(`html[data-place="${place}"]`).count() > 0) return frame;
      }
    }
    throw new Error(`Conductor's page is not shown in the ${place}.`);
  }

  /** A new window is dark. High contrast is what VS Code takes where the system forces its colours. */
  async useTheme(theme: 'light' | 'dark' | 'high-contrast'): Promise<void> {
    const [colorScheme, forcedColors, name] = ({
      'light': ['light', 'none', 'vs'], 'dark': ['dark', 'none', 'vs-dark'], 'high-contrast': ['dark', 'active', 'hc-black'],
    } as const)[theme];
    await this.page.emulateMedia({ colorScheme, forcedColors });
    await this.page.locator(`.monaco-workbench.${name}`).waitFor();
  }

  /** Drags the edge of the side bar until it is `width` pixels wide. */
  async resizeSideBar(width: number): Promise<void> {
    const sideBar = await this.page.locator('.part.sidebar').boundingBox();
    if (!sideBar) throw new Error('No side bar is shown.');
    const [x, y] = [sideBar.x + sideBar.width, sideBar.y + sideBar.height / 2];
    await this.page.mouse.move(x, y);
    await this.page.mouse.down();
    await this.page.mouse.move(sideBar.x + width, y, { steps: 5 });
    await this.page.mouse.up();
    // Away from the edge, which stays lit under the mouse.
    await this.page.mouse.move(sideBar.x + width + 200, y);
  }

  async screenshot(file: string): Promise<void> {
    await mkdir(path.dirname(file), { recursive: true });
    await this.page.screenshot({ path: file, animations: 'disabled' });
  }
}

/**
 * Leaves VS Code as a user does: the page tells the server, which ends the window's extension host then. When a context is closed, its
 * pages are just gone, and the server waits for them to connect again.
 */
export async function unload(page: Page): Promise<void> {
  // VS Code may ask whether it is meant.
  page.on('dialog', (dialog) => void dialog.accept());
  await page.goto('about:blank');
}

/**
 * Adds what VS Code's own test servers put into the page's configuration. Done in the page, before its scripts run: rewriting the
 * response instead (`page.route`) takes the page's loopback address away from it, and Chromium then refuses its WebSocket.
 */
async function setDevelopmentOptions(
  page: Page, server: VsCodeServer, { extensions = [], tests }: DevelopmentOptions,
): Promise<void> {
  if (extensions.length === 0 && tests === undefined) return;
  const options = {
    extensions: extensions.map((folder) => server.uriOf(folder)),
    ...(tests && { extensionTestsPath: server.uriOf(tests) }),
  };
  await page.addInitScript((added) => {
    document.addEventListener('readystatechange', () => {
      const element = document.getElementById('vscode-workbench-web-configuration');
      const settings = element?.getAttribute('data-settings');
      if (!element || !settings || document.readyState !== 'interactive') return;
      const configuration = JSON.parse(settings) as { developmentOptions?: object };
      configuration.developmentOptions = { ...configuration.developmentOptions, ...added };
      element.setAttribute('data-settings', JSON.stringify(configuration));
    });
  }, options);
}
