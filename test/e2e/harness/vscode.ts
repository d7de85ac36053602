import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import { VsCodeServer, type VsCodeServerOptions } from './vscode-server.ts';
import { unload } from './vscode-window.ts';

/**
 * What a flow left to the next one of this process, as new. To start both for each flow would take two fifths of the processor time until
 * a window shows Conductor.
 */
let left: VsCode | undefined;

function leaveToNext(vscode: VsCode): void {
  left = vscode;
}

/** A VS Code server, a browser that shows its windows, and the folder that Conductor has for its home there. */
export class VsCode {
  readonly server: VsCodeServer;
  readonly browser: Browser;
  readonly home: string;
  readonly #isShared: boolean;

  private constructor(server: VsCodeServer, browser: Browser, home: string, isShared: boolean) {
    this.server = server;
    this.browser = browser;
    this.home = home;
    this.#isShared = isShared;
  }

  static async start(options: VsCodeServerOptions, isShared = false): Promise<VsCode> {
    const home = await realpath(await mkdtemp(path.join(tmpdir(), 'conductor-home-')));
    const server = await VsCodeServer.start({ ...options, environment: { ...options.environment, CONDUCTOR_HOME: home } });
    return new VsCode(server, await launchBrowser(), home, isShared);
  }

  /** What another flow left, or a new one that is left to others. */
  static async share(options: Pick<VsCodeServerOptions, 'extensions' | 'settings'>): Promise<VsCode> {
    const taken = left;
    left = undefined;
    if (!taken?.browser.isConnected()) return VsCode.start(options, true);
    await taken.server.configure(options.settings);
    return taken;
  }

  /** Closes the windows, and ends what they do not end themselves. */
  async closeWindows(): Promise<void> {
    for (const context of this.browser.contexts()) {
      for (const page of context.pages()) await unload(page);
      await context.close();
    }
    await this.server.endWindows();
  }

  /** Ends it, or leaves it to the next flow. No window is open any more, and no backend runs. */
  async leave(): Promise<void> {
    await rm(this.home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    if (this.#isShared && !left && this.browser.isConnected()) {
      await this.server.clean();
      await mkdir(this.home, { mode: 0o700 });
      leaveToNext(this);
      return;
    }
    await this.browser.close();
    await this.server.stop();
  }
}
