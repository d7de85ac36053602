import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

/** Debian's shell is Chromium without a user interface of its own, which takes a tenth of a flow's processor time. */
const SHELL = '/usr/lib/chromium/chromium-headless-shell';
const USUAL_PLACES = [SHELL, ...['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'].map((name) => `/usr/bin/${name}`)];

/** The Chromium that the tests drive, or undefined where there is none. */
export function findChromium(): string | undefined {
  const places = process.env.CHROMIUM_PATH ? [process.env.CHROMIUM_PATH] : USUAL_PLACES;
  return places.find((place) => existsSync(place));
}

export const CHROMIUM_IS_MISSING =
  'The tests in real VS Code need Chromium: install it (on Debian "apt-get install --no-install-recommends chromium-headless-shell"), ' +
  'or name another copy with CHROMIUM_PATH.';

/** @throws Error with a sentence that says what to install when there is no Chromium. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error(CHROMIUM_IS_MISSING);
  return chromium.launch({
    executablePath,
    // Chromium's own sandbox does not start as root, as which containers run; the pages are ours.
    chromiumSandbox: false,
    args: ['--disable-gpu', '--disable-quic', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
}
