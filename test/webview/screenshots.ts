import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { AxeResults, RunOptions } from 'axe-core';
import { chromium } from 'playwright-core';
import type { EvaluationPageState } from '../../backend/protocol/evaluation-page.ts';
import type { PanelState } from '../../backend/protocol/panel-messages.ts';
import { EVALUATION_SCENES } from './evaluation-fixtures.ts';
import { BEGIN, REPLIES, SCENES } from './fixtures.ts';
import { openPanel } from './harness/panel-page.ts';
import { THEMES } from './harness/themes.ts';

/*
 *   node with-node.mjs node test/webview/screenshots.ts [--scene a,b] [--theme dark,light] [--width 300,400]
 *     [--page evaluation] [--place editor] [--open] [--forced-colors] [--language de] [--dist dist]
 * Draws every scene of the built panel into test/e2e/artifacts/panel/ and ends with 1 where the page reports an error, breaks its
 * content security policy, is wider than its view, or axe-core finds something.
 */

/** Chromium draws no picture of more than 16,384 device pixels. */
const MAX_HEIGHT = 6_000;

const { values } = parseArgs({
  options: {
    /** The panel by default, or the page of an evaluation. */
    page: { type: 'string', default: 'panel' },
    scene: { type: 'string' },
    dist: { type: 'string', default: 'dist' },
    theme: { type: 'string', default: 'dark,light' },
    width: { type: 'string', default: '300,400,700' },
    /** The side bar, or an editor's tab. */
    place: { type: 'string', default: 'side' },
    'forced-colors': { type: 'boolean', default: false },
    /** Of the texts; those of models and of the backend stay as they are. */
    language: { type: 'string', default: 'en' },
    /** Opens everything that can be opened. */
    open: { type: 'boolean', default: false },
  },
});

const isEvaluation = values.page === 'evaluation';
const scenes: Readonly<Record<string, () => PanelState | EvaluationPageState>> = isEvaluation ? EVALUATION_SCENES : SCENES;

const out = path.resolve(import.meta.dirname, '../e2e/artifacts/panel');
await mkdir(out, { recursive: true });
const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const texts = values.language === 'en' ? undefined : await textsIn(values.language);
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium', headless: true, chromiumSandbox: false,
  args: [
    '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
    '--disable-sync',
  ],
});

let problems = 0;
let pictures = 0;
const complain = (where: string, what: string): void => {
  problems += 1;
  console.log(`${where}: ${what}`);
};

for (const themeName of values.theme.split(',')) {
  const theme = THEMES[themeName];
  if (!theme) throw new Error(`There is no theme "${themeName}": ${Object.keys(THEMES).join(', ')}.`);
  for (const width of values.width.split(',').map(Number)) {
    for (const scene of values.scene?.split(',') ?? Object.keys(scenes)) {
      const state = scenes[scene]?.();
      if (!state) throw new Error(`There is no scene "${scene}": ${Object.keys(scenes).join(', ')}.`);
      const place = values.place === 'editor' ? 'editor' : 'side';
      const variants = [...(place === 'side' ? [] : [place]), ...(values.open ? ['open'] : []), ...(values['forced-colors'] ? ['forced'] : []), ...(texts ? [values.language] : [])];
      const where = [...(isEvaluation ? ['evaluation'] : []), scene, themeName, width, ...variants].join('-');
      const panel = await openPanel(browser, {
        dist: path.resolve(values.dist), ...(isEvaluation && { bundle: 'evaluation' as const }), theme, width, forcedColors: values['forced-colors'], place, replies: REPLIES, ...(texts && { texts }),
      });
      // A little after the last event, so that live figures stand where a person would see them.
      await panel.show(state, Math.max(BEGIN, 'view' in state ? updatedAt(state) : 0) + 1_400);
      if (values.open) await panel.openAll();
      const height = Math.min(MAX_HEIGHT, await panel.page.evaluate(() => document.documentElement.scrollHeight));
      await panel.page.screenshot({ path: path.join(out, `${where}.png`), fullPage: true, clip: { x: 0, y: 0, width, height } });
      pictures += 1;
      const overflow = await panel.page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement;
        return scrollWidth - clientWidth;
      });
      if (overflow > 0) complain(where, `${overflow} px wider than its view`);
      // Evaluated by the browser's debugger, which no content security policy stops.
      await panel.page.evaluate(axeSource);
      const { violations } = await panel.page.evaluate(
        (options) => (window as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } }).axe.run(options),
        // Forced colours replace those that axe-core computes with.
        { resultTypes: ['violations'], rules: { 'color-contrast': { enabled: !values['forced-colors'] } } } satisfies RunOptions,
      );
      for (const { id, help, nodes } of violations) {
        const examples = nodes.slice(0, 3).map((node) => `${node.html.slice(0, 120)} ${node.any[0]?.message ?? ''}`);
        complain(where, `${id}: ${help} (${examples.join('; ')})`);
      }
      for (const problem of panel.problems) complain(where, problem);
      await panel.page.close();
    }
  }
}
await browser.close();
console.log(`${pictures} pictures in ${path.relative(process.cwd(), out)}, ${problems} problems`);
process.exit(problems > 0 ? 1 : 0);

async function textsIn(language: string): Promise<Readonly<Record<string, string>>> {
  const bundle = path.resolve(import.meta.dirname, `../../l10n/bundle.l10n.${language}.json`);
  return JSON.parse(await readFile(bundle, 'utf8')) as Record<string, string>;
}

function updatedAt({ view }: PanelState): number {
  switch (view.kind) {
    case 'question':
    case 'verification': return 0;
    case 'run': return view.run.updatedAt;
    case 'training': return view.training.updatedAt;
  }
}
