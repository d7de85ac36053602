import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from '../../../backend/journal/journal.ts';
import { ScriptedServer } from '../../support/scripted-server.ts';
import { fillJournal, knowsItsWorkersALittle, POOL } from '../../train/outcome-journal.ts';
import { violationsIn } from '../harness/violations.ts';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');
const OFFER = 'Your Conductor can learn from 48 earlier plans, 12 of them verified by your tests.';

/* Sixty questions are in the journal, planned by a paid model. The Conductor that is part of the extension learns from them. */
describe('learning from earlier plans', { timeout: 600_000 }, () => {
  let workbench: Workbench;
  /** Whoever were asked would be seen. */
  let workers: ScriptedServer;

  beforeAll(async () => {
    workers = await ScriptedServer.start(() => 'Nobody is to ask me.');
    workbench = await Workbench.start({
      width: 1_440, height: 1_000,
      writeHome: async (home) => {
        const journal = Journal.open(path.join(home, 'journal.sqlite'));
        fillJournal(journal, 60, { choose: knowsItsWorkersALittle });
        journal.close();
        const pool = POOL.map((worker) => ({ ...worker, baseUrl: workers.baseUrl }));
        await writeFile(path.join(home, 'workers.json'), JSON.stringify({ version: 1, workers: pool, local: { device: 'cpu', precision: 'full' } }));
      },
    });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(async () => {
    await workbench?.stop();
    await workers.close();
  });

  it('is offered under the question, and let be', async () => {
    const { window, panel } = workbench;
    await window.runCommand('Conductor: New Question');
    await panel.frame.getByText(OFFER).waitFor({ timeout: 60_000 });
    await window.screenshot(path.join(SCREENS, 'learn-offer-dark.png'));
    await panel.button('Not now').click();
    await panel.frame.getByText(OFFER).waitFor({ state: 'detached' });
  });

  it('begins by a command, says how far it is, and what the newest plans say', async () => {
    const { window, panel } = workbench;
    await window.runCommand('Conductor: Learn from Outcomes');
    await panel.frame.getByRole('heading', { name: 'Learning from earlier plans' }).waitFor();
    await panel.frame.getByText(/^\d+ of 30 steps done/).waitFor({ timeout: 120_000 });
    await window.screenshot(path.join(SCREENS, 'learn-under-way-dark.png'));
    await panel.frame.getByRole('heading', { name: 'Judged by the newest plans' }).waitFor({ timeout: 400_000 });
    await panel.frame.locator('.comparison-verdict').getByText('Better').waitFor();
    for (const theme of ['light', 'dark'] as const) {
      await window.useTheme(theme);
      await panel.frame.locator(`body.vscode-${theme}`).waitFor();
      expect(await violationsIn(panel.frame), theme).toEqual([]);
      await window.screenshot(path.join(SCREENS, `learned-${theme}.png`));
    }
    expect(workers.requests).toEqual([]);
  });

  it('plans once it is adopted, and no longer when it is taken back', async () => {
    const { panel } = workbench;
    await panel.button('Adopt what was trained').click();
    await panel.frame.getByText('conductor-mini plans with what was trained.').waitFor();
    await panel.button('Go back to the previous Conductor').click();
    await panel.button('Adopt what was trained').waitFor();
  });
});
