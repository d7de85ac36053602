import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { violationsIn } from '../harness/violations.ts';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');
const COMMAND_LINE = path.resolve(import.meta.dirname, '../../../backend/cli.ts');
const BODY_CLASSES = { 'dark': 'vscode-dark', 'light': 'vscode-light', 'high-contrast': 'vscode-high-contrast' } as const;

describe('an evaluation in VS Code', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({ hasPool: false, width: 1_440, height: 1_000 });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  const page = () => workbench.window.webview(-1);

  it('is put together in a few steps, and says what it costs before it starts', async () => {
    const { window } = workbench;
    await window.runCommand('Conductor: Evaluate');
    await window.quickPickRow('Tasks of the gym').click();
    await window.quickPickRow('Simulated workers').click();
    await window.quickPickRow('conductor:sim-conductor').waitFor();
    await window.screenshot(path.join(SCREENS, 'evaluation-contestants-dark.png'));
    await window.quickInput.getByRole('button', { name: 'OK' }).click();
    await window.quickPickRow('Tasks of each source: at most 20').waitFor();
    await window.screenshot(path.join(SCREENS, 'evaluation-extent-dark.png'));
    await window.quickPickRow('Estimate the cost').click();
    const offer = window.modal('Evaluate with simulated workers');
    await offer.getByText('the figures show nothing about real models').waitFor({ timeout: 60_000 });
    await window.screenshot(path.join(SCREENS, 'evaluation-offer-dark.png'));
    await offer.getByRole('button', { name: 'Start', exact: true }).click();
    await page().getByRole('heading', { name: 'Evaluation: gym' }).waitFor();
    await page().getByText('This shows nothing about real models.').waitFor();
  });

  it('ends with a plot and a table of all contestants', async () => {
    await page().getByText('Done', { exact: true }).waitFor({ timeout: 180_000 });
    await page().getByRole('img', { name: /^Share of right answers against dollars/ }).waitFor();
    await page().getByRole('row', { name: /majority of five .* % to .* %/ }).waitFor();
    await page().getByRole('row', { name: /Conductor sim-conductor/ }).waitFor();
    const names = await page().locator('table.results tbody th').allTextContents();
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(5);
  });

  it('opens a wrong sample down to its plan, what each worker said, and what judged it said', async () => {
    await page().getByRole('combobox', { name: /^Contestant/ }).selectOption('Conductor sim-conductor');
    await page().getByRole('combobox', { name: /^Answers/ }).selectOption('wrong');
    const samples = page().locator('.samples button');
    await expect.poll(async () => (await samples.allTextContents()).every((text) => text.includes('wrong') && text.includes('Conductor sim-conductor'))).toBe(true);
    await samples.first().focus();
    await workbench.window.page.keyboard.press('Enter');
    await page().getByRole('heading', { name: 'What judged it said' }).waitFor();
    await page().getByRole('heading', { name: 'Question', exact: true }).waitFor();
    await page().getByRole('heading', { name: /^Step 1: / }).waitFor();
  });

  it('can be read in every theme, and in a narrow window', async () => {
    const { window } = workbench;
    for (const theme of ['dark', 'light', 'high-contrast'] as const) {
      await window.useTheme(theme);
      await page().locator(`body.${BODY_CLASSES[theme]}`).waitFor();
      expect(await violationsIn(page()), theme).toEqual([]);
      await window.screenshot(path.join(SCREENS, `evaluation-${theme}.png`));
    }
    await window.useTheme('dark');
    await page().getByRole('heading', { name: 'Samples' }).scrollIntoViewIfNeeded();
    await window.screenshot(path.join(SCREENS, 'evaluation-sample-dark.png'));
    await window.page.setViewportSize({ width: 640, height: 900 });
    await window.screenshot(path.join(SCREENS, 'evaluation-narrow-dark.png'));
    expect(await page().locator('html').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBeLessThanOrEqual(0);
    await window.page.setViewportSize({ width: 1_440, height: 1_000 });
  });

  it('opens one that was begun at a terminal', async () => {
    const { window, home } = workbench;
    await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', COMMAND_LINE, 'eval', 'gym', '--pool', 'simulated', '--limit', '3', '-c', 'alone', '--json'], {
      env: { ...process.env, CONDUCTOR_HOME: home }, maxBuffer: 1e8,
    });
    await window.runCommand('Conductor: Open Evaluation');
    await window.quickPickRow(/gym.*15 of 15 answers/).click();
    await expect.poll(() => page().locator('table.results tbody tr').count()).toBe(5);
    await page().getByText(/^3 tasks/).waitFor();
  });
});
