// @vitest-environment jsdom
import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PanelState } from '../../backend/protocol/panel-messages.ts';
import { BEGIN, SCENES } from './fixtures.ts';
import { renderPanel, stubLayout } from './render-panel.tsx';

beforeEach(() => {
  stubLayout();
  vi.useFakeTimers({ now: BEGIN + 60_000, toFake: ['Date', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('every scene', () => {
  it.each(Object.keys(SCENES))('%s: axe-core finds nothing, opened up or not', async (scene) => {
    const panel = renderPanel((SCENES[scene] as () => PanelState)());
    vi.useRealTimers();
    expect(await violations(panel.root)).toEqual([]);
    panel.openAll();
    expect(await violations(panel.root)).toEqual([]);
  });

  async function violations(root: HTMLElement): Promise<string[]> {
    // Colours need a layout: test/webview/screenshots.ts checks them in a browser.
    const found = await axe.run(root, { rules: { 'color-contrast': { enabled: false } } });
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  }
});
