import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Workbench } from '../harness/workbench.ts';

describe('a workspace in Restricted Mode', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({ workspaceTrust: true, latency: 0 });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  it('is told so by the panel, which starts nothing', async () => {
    const { window, panel } = workbench;
    await window.runCommand('Conductor: Show Panel');
    await panel.frame.getByText('Restricted Mode').waitFor();
    await panel.ask.fill(workbench.bug.question);
    expect(await panel.button('Solve').isDisabled()).toBe(true);
  });

  it('has the answers of past runs to read, and none to apply', async () => {
    const { panel, bug, project } = workbench;
    await panel.frame.getByText('Workers: ').waitFor();
    await workbench.asOther((client) => client.request('run/start', { request: { question: bug.question, workspace: project, trusted: true } }));
    await panel.pastRun(bug.question.slice(0, 20)).click();
    await expect.poll(() => panel.status.innerText(), { timeout: 120_000 }).toContain('Verified');
    expect(await panel.button('Review and apply').isDisabled()).toBe(true);
    await panel.answer.getByText('Nothing is applied in Restricted Mode').waitFor();
  });

  it('has to be trusted before anything is trained on it', async () => {
    const { window } = workbench;
    await window.runCommand('Conductor: Fine-tune on Project Tests');
    await window.modal('This workspace is not trusted.').getByText('Trust the workspace first.').waitFor();
    await window.answerModal('This workspace is not trusted.', 'Cancel');
  });

  it('has to be trusted before a test command is chosen, which is a button away', async () => {
    const { window } = workbench;
    await window.runCommand('Conductor: Choose Test Command');
    await window.notification('Trust it to run its commands').getByRole('button', { name: 'Manage Trust' }).click();
    await window.page.locator('.workspace-trust-editor').waitFor();
    await window.runCommand('View: Close Editor');
  });

  it('gets a run that says what to do when it is asked all the same', async () => {
    const { window, panel, simulator } = workbench;
    await window.runCommand('Conductor: Solve');
    await window.answerInput('What do you want to know', workbench.bug.question);
    await expect.poll(() => panel.status.innerText(), { timeout: 30_000 }).toBe('Failed');
    await panel.frame.getByText(/trust/i).first().waitFor();
    expect(simulator.answering).toBe(0);
    expect((await workbench.runs()).map(({ state }) => state)).toEqual(['failed', 'completed']);
  });

  it('gets its answers checked once it is trusted', async () => {
    const { window, panel } = workbench;
    await window.trustWorkspace();
    await panel.frame.getByText('Restricted Mode').waitFor({ state: 'detached' });
    await workbench.solve();
    await expect.poll(() => panel.status.innerText(), { timeout: 120_000 }).toContain('Verified');
  });
});
