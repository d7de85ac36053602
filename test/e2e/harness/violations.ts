import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { FrameLocator } from 'playwright-core';

const source = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe-core finds in a page, its colours included; each with the element it was found at. */
export async function violationsIn(frame: FrameLocator): Promise<string[]> {
  const root = frame.locator('html');
  // Evaluated by the browser's debugger, which no content security policy stops.
  await root.evaluate(await source);
  const { violations } = await root.evaluate(async (html) => {
    // A view in the side bar is transparent, and axe-core takes white for what it cannot see behind a page.
    const isTransparent = getComputedStyle(document.body).backgroundColor === 'rgba(0, 0, 0, 0)';
    if (isTransparent) html.style.backgroundColor = 'var(--vscode-sideBar-background)';
    try {
      return await (window as unknown as { axe: { run(options: object): Promise<AxeResults> } }).axe.run({ resultTypes: ['violations'] });
    } finally {
      if (isTransparent) html.style.backgroundColor = '';
    }
  });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
