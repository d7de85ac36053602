import path from 'node:path';
import { format } from 'node:util';
import { launchBrowser } from './browser.ts';
import { VsCodeServer } from './vscode-server.ts';
import { VsCodeWindow } from './vscode-window.ts';

export interface SuiteOptions {
  /** Folders of unpacked extensions to load. */
  readonly extensions: readonly string[];
  /** The module whose `run()` is called in the extension host; it throws when the suite fails. */
  readonly tests: string;
  readonly workspace: string;
  readonly timeoutMs?: number;
  readonly onLine: (line: string) => void;
  /** Where to leave logs and a screenshot when the suite fails. */
  readonly artifacts: string;
}

/** Runs a suite inside the extension host of a real VS Code. @returns 0 when it passed. */
export async function runInExtensionHost(options: SuiteOptions): Promise<number> {
  // The suites fail on any error of the extension host, whoever made it, and VS Code's Git extension throws EPIPE where Git ends before it has read all.
  const server = await VsCodeServer.start({ settings: { 'git.enabled': false } });
  try {
    const browser = await launchBrowser();
    try {
      const { promise: ended, resolve: end } = Promise.withResolvers<number>();
      const timer = setTimeout(() => {
        options.onLine('The suite did not end in time.');
        end(1);
      }, options.timeoutMs ?? 300_000);
      const window = await VsCodeWindow.open(browser, server, options.workspace, {
        extensions: options.extensions,
        tests: options.tests,
        // VS Code calls these two functions of the page, when they exist, with what a suite prints and how it ended.
        prepare: async (page) => {
          const log = (_level: string, values: unknown[]): void => options.onLine(format(...values));
          await page.exposeFunction('codeAutomationLog', log);
          await page.exposeFunction('codeAutomationExit', end);
          page.on('crash', () => end(1));
        },
      });
      const code = await ended;
      clearTimeout(timer);
      if (code !== 0) {
        await window.screenshot(path.join(options.artifacts, 'window.png'));
        await server.keepLogs(options.artifacts);
      }
      return code;
    } finally {
      await browser.close();
    }
  } finally {
    await server.stop();
  }
}
