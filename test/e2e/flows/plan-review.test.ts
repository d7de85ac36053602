import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunSnapshot } from '../../../backend/protocol/run-snapshot.ts';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');

describe('a plan that is looked at before it is paid', () => {
  let workbench: Workbench;
  /** Who does the first step of the changed plan. */
  let other = 0;

  beforeAll(async () => {
    workbench = await Workbench.start({ seed: 8, latency: 0, width: 1_440, height: 1_000, settings: { 'conductor.reviewPlan': 'always' } });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  const run = (): Promise<RunSnapshot> => workbench.asOther(async (client) => {
    const [latest] = (await client.request('run/list', {})).runs;
    return (await client.request('run/get', { runId: latest?.runId ?? '' })).run;
  });

  it('waits with what it is expected to cost, and pays no worker', async () => {
    const { panel, window, simulator } = workbench;
    await workbench.solve();
    await expect.poll(() => panel.status.innerText(), { timeout: 60_000 }).toBe('The plan waits for you');
    await panel.frame.getByText(/^Expected cost: about \$/).waitFor();
    expect(simulator.asked).toBe(1);
    expect(await run()).toMatchObject({ state: 'waiting' });
    await window.resizeSideBar(480);
    await window.screenshot(path.join(SCREENS, 'plan-review-dark.png'));
    await window.useTheme('light');
    await window.screenshot(path.join(SCREENS, 'plan-review-light.png'));
    await window.useTheme('dark');
  });

  it('is written anew on request', async () => {
    const { panel, simulator } = workbench;
    await panel.frame.getByRole('textbox', { name: 'What another plan should do differently' }).fill('Think of the tests.');
    await panel.button('Ask for another plan').click();
    await panel.frame.getByText('You asked for another plan').waitFor({ timeout: 60_000 });
    await expect.poll(() => panel.status.innerText(), { timeout: 60_000 }).toBe('The plan waits for you');
    expect(simulator.asked).toBe(2);
  });

  it('keeps what was changed while another view is shown in its place', async () => {
    const { panel, window } = workbench;
    const { pool, rounds } = await run();
    other = rounds[0]?.plan?.modelIds[0] === 0 ? 1 : 0;
    await panel.frame.getByRole('combobox', { name: 'Worker of step 1' }).selectOption({ label: `${pool[other]?.id} (simulated)` });
    const words = panel.frame.getByRole('textbox', { name: 'Instruction of step 1' });
    await words.fill(`${await words.inputValue()} Name the line.`);
    await panel.button('Run the changed plan').waitFor();
    // VS Code discards the page meanwhile.
    await window.runCommand('View: Show Explorer');
    await window.page.locator('iframe.webview.ready').first().waitFor({ state: 'hidden' });
    await window.runCommand('Conductor: Show Panel');
    await panel.button('Run the changed plan').waitFor({ timeout: 60_000 });
    expect(await words.inputValue()).toMatch(/ Name the line\.$/);
  });

  it('runs as it was changed', async () => {
    const { panel, window, simulator } = workbench;
    await window.screenshot(path.join(SCREENS, 'plan-review-changed-dark.png'));
    await panel.button('Run the changed plan').click();
    await panel.frame.getByText('You changed this plan before it ran.').waitFor({ timeout: 60_000 });
    await expect.poll(async () => (await run()).state, { timeout: 120_000 }).toBe('completed');
    const { rounds, pool } = await run();
    const [first] = rounds;
    expect(first?.planEdited?.planned.modelIds).not.toEqual(first?.plan?.modelIds);
    expect(first).toMatchObject({ planEdited: { forTraining: false }, review: { state: 'approved' }, discarded: [{ wish: 'Think of the tests.' }] });
    expect(first?.steps[0]).toMatchObject({ worker: other, state: 'completed', subtask: expect.stringMatching(/ Name the line\.$/) });
    expect(first?.steps[0]?.attempt?.worker).toBe(pool[other]?.id);
    expect(simulator.asked).toBe(2 + (first?.steps.length ?? 0));
  });
});
