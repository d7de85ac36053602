import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';
import { WorkflowPanel } from '../harness/workflow-panel.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');

describe('the panel with room', () => {
  let workbench: Workbench;
  /** The page in the editor's tab. */
  let wide: WorkflowPanel;

  beforeAll(async () => {
    workbench = await Workbench.start({ latency: 1, width: 1_900, height: 1_060 });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  it('opens in an editor from the side bar, and both show the same run', async () => {
    const { window } = workbench;
    await workbench.solve();
    const side = new WorkflowPanel(await window.panelFrame('side'));
    await side.verdict.getByText('Verified').waitFor({ timeout: 120_000 });
    await side.button('Open in an editor').click();
    await window.editorTab(/^Conductor/).waitFor();
    wide = new WorkflowPanel(await window.panelFrame('editor'));
    await wide.verdict.getByText('Verified').waitFor();
    expect(await wide.status.innerText()).toBe(await side.status.innerText());
    await window.screenshot(path.join(SCREENS, 'side-and-editor-dark.png'));
  });

  it('draws the plan as a graph, with lines for who reads whom', async () => {
    await wide.graph().waitFor();
    await expect.poll(() => wide.graph().getByRole('tab').count()).toBeGreaterThan(1);
    await expect.poll(() => wide.graphEdges.count()).toBeGreaterThan(0);
  });

  it('shows by keyboard what a step was sent, what it saw, said and cost', async () => {
    const { window, bug } = workbench;
    await wide.node(2).focus();
    await window.page.keyboard.press('Home');
    await window.page.keyboard.press('Enter');
    await wide.node(1).and(wide.frame.locator('[aria-selected="true"]')).waitFor();
    await wide.details.getByText('What it saw').waitFor();
    await wide.details.getByText('Tokens out').waitFor();
    await wide.details.getByRole('button', { name: 'The exact prompt' }).click();
    await wide.details.getByRole('group', { name: 'The exact prompt' }).getByText(bug.question.slice(0, 20)).waitFor();
    await window.screenshot(path.join(SCREENS, 'workflow-dark.png'));
    await window.useTheme('light');
    await window.screenshot(path.join(SCREENS, 'workflow-light.png'));
    await window.useTheme('high-contrast');
    await window.screenshot(path.join(SCREENS, 'workflow-high-contrast.png'));
    await window.useTheme('dark');
  });

  it('is there again after the window was reloaded', async () => {
    const { window } = workbench;
    await window.untilEditorIsSaved('conductor.workflowEditor', /"selected":{"/);
    await window.reload();
    wide = new WorkflowPanel(await window.panelFrame('editor', 60_000));
    await wide.graph().waitFor({ timeout: 60_000 });
    await wide.details.getByText('What it saw').waitFor();
  });

  it('finds a past run by words of its question, without a mouse', async () => {
    const { window, project } = workbench;
    const question = 'What is this module for, in one sentence?';
    await workbench.asOther(async (client) => client.request('run/start', { request: { question, workspace: project, trusted: true, rounds: 1 } }));
    await wide.button('Runs').click();
    await wide.search.fill('in ONE sentence');
    await expect.poll(() => wide.searchResult.innerText()).toBe('1 run matches.');
    await wide.search.fill('nobody asked this');
    await expect.poll(() => wide.searchResult.innerText()).toContain('No run matches');
    await wide.search.fill('module for');
    await wide.pastRun(question).waitFor();
    await window.screenshot(path.join(SCREENS, 'search-dark.png'));
    await window.page.keyboard.press('ArrowDown');
    await window.page.keyboard.press('Enter');
    await wide.question.getByText(question).waitFor();
  });

  it('a second window joins the running backend and sees its own runs', async () => {
    const { pid } = await workbench.backend();
    const second = await workbench.openSecondWindow({ seed: 2 });
    try {
      await workbench.solve(second.bug.question, second.window);
      const panel = new WorkflowPanel(await second.window.panelFrame('side'));
      await panel.verdict.waitFor({ timeout: 120_000 });
      expect((await workbench.backend()).pid).toBe(pid);
      await panel.button('Runs').click();
      await panel.pastRun(second.bug.question.slice(0, 20)).waitFor();
      await expect.poll(() => panel.pastRuns.count()).toBe(1);
      expect(await workbench.runs()).toHaveLength(3);
      await wide.button('Runs').click();
      await wide.search.fill('');
      await expect.poll(() => wide.pastRuns.count()).toBe(2);
    } finally {
      await second.window.close();
    }
  });

  it('removes a past run for good, once that is said again', async () => {
    const { window } = workbench;
    const question = 'What is this module for, in one sentence?';
    await wide.removeRun(question).click();
    await window.answerModal('Remove this run for good?', 'Cancel');
    await expect.poll(() => wide.pastRuns.count()).toBe(2);
    await wide.pastRun(question).focus();
    await window.page.keyboard.press('Delete');
    await window.modal('Remove this run for good?').waitFor();
    await window.screenshot(path.join(SCREENS, 'remove-run-dark.png'));
    await window.answerModal('Remove this run for good?', 'Remove Run');
    await expect.poll(() => wide.pastRuns.count()).toBe(1);
    expect(await workbench.runs()).toHaveLength(2);
  });
});
