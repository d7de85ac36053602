import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');

describe('a demonstration, while there is no worker', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({ hasPool: false, width: 1_440, height: 1_000 });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  it('stands below a box that keeps the question of who has one already', async () => {
    const { window, panel } = workbench;
    await window.runCommand('Conductor: Show Panel');
    await window.resizeSideBar(480);
    await panel.ask.fill('Why is the sky blue?');
    await panel.frame.getByText('Your question waits here').waitFor();
    expect(await panel.button('Solve').isDisabled()).toBe(true);
    await window.screenshot(path.join(SCREENS, 'no-worker-dark.png'));
  });

  it('ends with what works here and nothing else', async () => {
    const { window, panel } = workbench;
    await panel.button('See a demonstration first').click();
    await expect.poll(() => panel.status.innerText(), { timeout: 200_000 }).toMatch(/^(Verified|Not verified)/);
    await panel.button('Open that folder').scrollIntoViewIfNeeded();
    expect(await panel.button(/^(Review|Apply|Insert|Run with other|Ask again)/).count()).toBe(0);
    await window.screenshot(path.join(SCREENS, 'demonstration-answer-dark.png'));
  });

  it('shows its files, to be read', async () => {
    const { window, panel } = workbench;
    await panel.frame.locator('.chip').first().click();
    const [name] = (await panel.frame.locator('.chip .chip-name').first().innerText()).split('…');
    await window.tab(name ?? '').waitFor();
    await window.page.locator('.view-lines').first().click();
    await window.page.keyboard.type('x');
    await window.page.getByText(/read-only/i).first().waitFor();
    expect(await window.page.locator('.tab.dirty').count()).toBe(0);
  });

  it('stands among the past runs, of every window', async () => {
    const { window, panel } = workbench;
    await panel.button('Runs').click();
    await panel.pastRuns.first().waitFor();
    await expect.poll(() => panel.pastRuns.count()).toBe(1);
    expect(await panel.ask.inputValue()).toBe('Why is the sky blue?');
    await window.runCommand('Conductor: Show Past Runs');
    await window.quickPickRow('simulated').first().click();
    await panel.question.waitFor();
  });

  it('leads to a window with its folder, where its answer is applied', async () => {
    const { window, panel } = workbench;
    const opened = window.page.context().waitForEvent('page');
    await panel.button('Open that folder').click();
    const page = await opened;
    await page.waitForURL(/demonstration/);
    const other = page.frameLocator('iframe.webview.ready').first().frameLocator('iframe#active-frame');
    await other.getByRole('button', { name: /^(Review|Apply)/ }).waitFor({ timeout: 60_000 });
    await page.screenshot({ path: path.join(SCREENS, 'demonstration-folder-dark.png') });
    await page.close();
  });

  it('says where people look why a command was refused', async () => {
    const { window, panel } = workbench;
    await rm(path.join(workbench.home, 'demonstration'), { recursive: true });
    await panel.button('Open that folder').click();
    const refused = panel.frame.getByRole('alert').getByText('is not there any more');
    await refused.waitFor();
    const view = await panel.frame.locator('html').evaluate((element) => element.clientHeight);
    const place = await refused.evaluate((element) => element.getBoundingClientRect().bottom);
    expect(place).toBeLessThan(view);
    await window.screenshot(path.join(SCREENS, 'refused-dark.png'));
    await panel.button('Dismiss').click();
    await refused.waitFor({ state: 'detached' });
  });
});
