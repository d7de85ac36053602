import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Workbench } from '../harness/workbench.ts';

describe('a run that is cancelled', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({ latency: 5 });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  it('stops while a step streams, and its worker is not asked for more', async () => {
    const { panel, simulator } = workbench;
    await workbench.solve();
    await panel.plan().locator('.live').first().waitFor({ timeout: 60_000 });
    expect(simulator.answering).toBeGreaterThan(0);
    await panel.button('Cancel this run').click();
    await expect.poll(() => panel.status.innerText()).toBe('Cancelled');
    await simulator.idle();
    expect((await workbench.runs()).map(({ state }) => state)).toEqual(['cancelled']);
  });

  it('stands among the past runs and reopens', async () => {
    const { panel, bug } = workbench;
    await panel.button('Runs').click();
    await panel.pastRun('cancelled').click();
    await panel.question.getByText(bug.question.slice(0, 20)).waitFor();
    await expect.poll(() => panel.status.innerText()).toBe('Cancelled');
  });
});
