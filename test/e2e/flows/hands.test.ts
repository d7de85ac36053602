import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunSnapshot } from '../../../backend/protocol/run-snapshot.ts';
import { ENDLESS, handsProject } from '../harness/hands-rule.ts';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');
const SEED = 1;

/** Workers with hands. They are simulated; their tool calls, the copies, the sandbox and the tests are real. */
describe('a run whose workers have hands', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({ seed: SEED, ...handsProject(SEED), width: 1_440, height: 1_060 });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  async function run(): Promise<RunSnapshot> {
    const [{ runId = '' } = {}] = await workbench.runs();
    return (await workbench.asOther((client) => client.request('run/get', { runId }))).run;
  }

  it('shows turn by turn how a step edits, sees a red test and mends its change', async () => {
    const { panel, window } = workbench;
    await workbench.solve();
    await panel.plan().waitFor({ timeout: 60_000 });
    await window.resizeSideBar(520);
    await panel.button('Show the details of step 1').click();
    const step = panel.step(1);
    await step.getByRole('button', { name: /^3 · test/ }).getByText(/\d+ passed, [1-9]\d* failed/).waitFor({ timeout: 120_000 });
    await step.getByRole('button', { name: /^5 · test/ }).getByText(/^\d+ passed$/).waitFor({ timeout: 120_000 });
    await step.getByRole('button', { name: /^4 · edit/ }).click();
    await panel.changesIn(workbench.bug.path).first().waitFor();
    await window.screenshot(path.join(SCREENS, 'hands-turns-dark.png'));
  });

  it('opens the change of a step as a diff against the workspace, while the run goes on', async () => {
    const { panel, window, bug, project } = workbench;
    await panel.button(/^Open its change: the copy of step 1/).click();
    await window.editorTab(/^Conductor: change of step 1, round 1/).waitFor();
    await window.page.locator('.multiDiffEntry, .multi-diff-root-floating-menu, .monaco-component.multiDiffEditor').first().waitFor();
    await window.screenshot(path.join(SCREENS, 'step-change-dark.png'));
    expect(await readFile(path.join(project, bug.path), 'utf8')).not.toBe(bug.correctSource);
  });

  /** The step that is at work, counted from 1. */
  const atWork = async (): Promise<number> =>
    Number(/\d+/.exec((await workbench.panel.button(/^Stop step \d/).first().getAttribute('aria-label', { timeout: 120_000 })) ?? '')?.[0]);

  /** The card of a step. An opened one has lists of its own. */
  const card = (number: number): Locator => workbench.panel.frame.locator(`.step[data-step="${number - 1}"]`);

  it('tells the worker of a step something, which is there until it is read', async () => {
    const { panel } = workbench;
    await expect.poll(async () => (await run()).rounds[0]?.steps.some(({ turns }) => turns?.at(-1)?.calls?.[0]?.arguments.includes(ENDLESS)), { timeout: 120_000 }).toBe(true);
    const number = await atWork();
    await panel.button(`Tell it something: step ${number} reads it at its next turn`).click();
    const field = panel.frame.getByRole('textbox', { name: /^Tell / });
    await field.fill('Keep it short, please.');
    await field.press('Enter');
    await card(number).getByText('It reads this at its next turn.').waitFor();
    expect((await run()).rounds[0]?.steps[number - 1]?.told).toEqual(['Keep it short, please.']);
  });

  it('stops a step alone, and the run ends with what it had', async () => {
    const { panel, window, bug } = workbench;
    const number = await atWork();
    await panel.button(new RegExp(`^Stop step ${number}`)).click();
    await card(number).getByText('You stopped it. It handed on what it had.').waitFor({ timeout: 60_000 });
    await window.screenshot(path.join(SCREENS, 'hands-stopped-dark.png'));
    // The steps after it begin the same endless command.
    await expect.poll(async () => {
      const stop = panel.button(/^Stop step/).first();
      if (await stop.isVisible()) await stop.click({ timeout: 2_000 }).catch(() => undefined);
      return await panel.verdict.count();
    }, { timeout: 180_000, interval: 1_000 }).toBe(1);
    await panel.verdict.getByText('Verified').waitFor({ timeout: 120_000 });
    const { rounds, outcome } = await run();
    expect(outcome).toBe('verified');
    expect(rounds).toHaveLength(1);
    expect(rounds[0]?.steps[number - 1]).toMatchObject({ finishReason: 'stopped', changes: [{ path: bug.path }] });
    await window.useTheme('light');
    await window.screenshot(path.join(SCREENS, 'hands-end-light.png'));
  });
});
