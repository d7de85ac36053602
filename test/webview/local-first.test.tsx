// @vitest-environment jsdom
import { act } from 'preact/test-utils';
import { beforeEach, expect, it } from 'vitest';
import { exportedRun } from '../../backend/solve/export/exported-run.ts';
import { runMarkdown } from '../../backend/solve/export/run-markdown.ts';
import { localFirstRun, stateWith } from './fixtures.ts';
import { renderPanel, stubLayout } from './render-panel.tsx';

beforeEach(() => stubLayout());

const titles = (root: HTMLElement): (string | undefined)[] => [...root.querySelectorAll('.round-title h3')].map((title) => title.textContent?.trim());
const record = { tried: 12, verified: 5, durationMs: 41_000, saved: { usd: 0.4, runs: 9 } };

it('shows the try as the first round, with the record of the project, and the plan behind it', () => {
  const panel = renderPanel(stateWith({ run: localFirstRun() }));
  expect(titles(panel.root)).toEqual(['Round 1 · local try', 'Round 2']);
  const verified = renderPanel(stateWith({ run: localFirstRun({ verified: true }) }));
  expect(verified.text()).toContain('Tried first, because it costs nothing · 12 questions tried in this project, 5 verified · about $0.40 saved · about 41.0 s a try');
  expect(verified.text()).toContain('of the local try: nobody was paid');
  expect(verified.text()).not.toContain('Planned by');
});

it('says why nobody tried', () => {
  expect(renderPanel(stateWith({ run: localFirstRun({ omitted: true }) })).text()).toContain('all tests pass already, so none could verify the try.');
});

it('offers the setting where somebody could try, with the record once it is on', () => {
  expect(renderPanel(stateWith()).text()).not.toContain('Local first');
  const off = renderPanel({ ...stateWith(), localFirst: { on: false, worker: 'llama', record: { tried: 0, verified: 0 } } });
  expect(off.text()).not.toContain('tried in this project');
  const box = [...off.root.querySelectorAll<HTMLInputElement>('.attempts input')].at(-1) as HTMLInputElement;
  expect(box.closest('label')?.title).toContain('no question tried in this project yet');
  void act(() => box.click());
  expect(off.posted.at(-1)).toEqual({ type: 'setLocalFirst', on: true });
  // What it brought before it was switched off is no secret.
  expect(renderPanel({ ...stateWith(), localFirst: { on: false, worker: 'llama', record } }).text()).toContain('Local first · 12 questions tried');
  expect(renderPanel({ ...stateWith(), localFirst: { on: true, worker: 'llama', record } }).text()).toContain('llama tries first · 12 questions tried in this project, 5 verified · about $0.40 saved');
});

it('is exported with its record, and without words that no Conductor wrote', () => {
  const text = runMarkdown(exportedRun(localFirstRun(), []));
  expect(text).toContain('- Local first: a worker that costs nothing tried before anybody was paid; before, 12 questions tried in this project, 5 verified, about $0.40 saved');
  expect(text).toContain('## Round 1, the local try');
  expect(text.slice(text.indexOf('## Round 1'), text.indexOf('## Round 2'))).not.toContain('The Conductor wrote');
  expect(runMarkdown(exportedRun(localFirstRun({ omitted: true }), []))).toContain('- Local first: Nobody tried first at no cost');
});
