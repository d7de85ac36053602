import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Workbench } from '../harness/workbench.ts';

describe('a run whose extension host is killed', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({ latency: 5 });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  it('goes on in the backend, and the panel shows the same run again', async () => {
    const { panel, server, bug } = workbench;
    await workbench.solve();
    await panel.plan().locator('.live').first().waitFor({ timeout: 60_000 });
    const [before] = await workbench.runs();
    const { pid } = await workbench.backend();

    expect(server.killExtensionHosts()).toBe(1);
    expect((await workbench.runs())[0]).toMatchObject({ runId: before?.runId, state: 'running' });

    // VS Code starts another extension host by itself; its panel finds the run where it is by then.
    await panel.question.getByText(bug.question.slice(0, 20)).waitFor({ timeout: 60_000 });
    await expect.poll(() => panel.status.innerText(), { timeout: 120_000 }).toContain('Verified');
    expect(await workbench.runs()).toMatchObject([{ runId: before?.runId, state: 'completed', outcome: 'verified' }]);
    expect((await workbench.backend()).pid).toBe(pid);
  });
});
