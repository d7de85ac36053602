// @vitest-environment jsdom
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as l10n from '@vscode/l10n';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PanelState } from '../../backend/protocol/panel-messages.ts';
import { BEGIN, SCENES, stateWith, verifiedRun } from './fixtures.ts';
import { renderPanel, stubLayout } from './render-panel.tsx';

const bundle = path.resolve(import.meta.dirname, '../../l10n/bundle.l10n.de.json');
const german = JSON.parse(await readFile(bundle, 'utf8')) as Readonly<Record<string, string>>;

beforeAll(() => {
  document.documentElement.lang = 'de';
  l10n.config({ contents: german });
  // Files share their modules: the next one speaks English.
  return () => {
    document.documentElement.lang = '';
    l10n.config({ contents: {} });
  };
});
beforeEach(() => {
  stubLayout();
  vi.useFakeTimers({ now: BEGIN + 60_000, toFake: ['Date'] });
  return () => vi.useRealTimers();
});

describe('the panel in German', () => {
  it.each(Object.keys(SCENES))('%s: says nothing in English for which there is German', (scene) => {
    const panel = renderPanel((SCENES[scene] as () => PanelState)());
    panel.openAll();
    const english = saidIn(panel.root).filter((said) => (german[said] ?? said) !== said);
    expect(english).toEqual([]);
  });

  it('puts figures and code where the sentence wants them', () => {
    const panel = renderPanel(stateWith({ run: verifiedRun() }));
    expect(panel.text()).toContain('Verifiziert 14 von 14');
    expect(panel.text()).toContain('$0.0149 von $1.00');
    expect(panel.text()).toContain('in der Sandbox');
    expect(panel.button(/^Gesendet: 5 Stücke, 2 ausgelassen/)).toBeDefined();
  });

  it('lists and dates as German does', () => {
    const panel = renderPanel((SCENES['local-ready'] as () => PanelState)());
    expect(panel.text()).toContain('Worker: qwen3-1.7b und claude.');
    expect(panel.text()).toContain('16. Okt. 2025');
  });
});

/** Each text as it stands in the page, and each label. */
function saidIn(root: HTMLElement): string[] {
  const said: string[] = [];
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) said.push((texts.currentNode.textContent ?? '').trim());
  for (const element of root.querySelectorAll('*')) {
    for (const name of ['aria-label', 'title', 'placeholder']) said.push(element.getAttribute(name) ?? '');
  }
  return said;
}
