import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { violationsIn } from '../harness/violations.ts';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');
const BODY_CLASSES = { 'dark': 'vscode-dark', 'light': 'vscode-light', 'high-contrast': 'vscode-high-contrast' } as const;

describe('who earns their price', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({ latency: 0, count: true, width: 1_440, height: 1_000 });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  const page = () => workbench.window.webview(-1);

  it('stands on one page after an answer that the tests judged', async () => {
    const { window } = workbench;
    await workbench.solve();
    await expect.poll(async () => (await workbench.runs())[0]?.outcome, { timeout: 60_000 }).toBe('verified');
    await window.runCommand('Conductor: Show Records');
    await page().getByRole('heading', { name: 'Conductor: Records' }).waitFor();
    await page().getByRole('row', { name: /1 of 1/ }).first().waitFor();
    await page().getByLabel('By role and kind of question').check();
    await page().getByRole('rowheader', { name: /^writing, / }).first().waitFor();
    for (const theme of ['dark', 'light', 'high-contrast'] as const) {
      await window.useTheme(theme);
      await page().locator(`body.${BODY_CLASSES[theme]}`).waitFor();
      expect(await violationsIn(page()), theme).toEqual([]);
      await window.screenshot(path.join(SCREENS, `records-${theme}.png`));
    }
    await window.useTheme('dark');
  });

  it('is forgotten after a question, and the run stays', async () => {
    const { window } = workbench;
    await page().getByRole('button', { name: 'Forget …' }).click();
    await window.modal('Forget what tests said of workers in all projects?').getByRole('button', { name: 'Forget', exact: true }).click();
    await page().getByText('Tests have judged no answer of a worker here yet.').waitFor();
    expect(await workbench.runs()).toMatchObject([{ outcome: 'verified' }]);
  });
});
