import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');

/** Slow enough to see a step's text arrive piece by piece. */
const LATENCY = 4;

describe('a question asked in the palette', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({ latency: LATENCY, width: 1_440, height: 1_000 });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  it('shows what would be sent, with reasons, before anything leaves the machine', async () => {
    const { window, bug } = workbench;
    await window.openFile(bug.path);
    await window.runCommand('Conductor: Solve');
    await window.answerInput('What do you want to know', bug.question);
    await window.quickPickRow(bug.path).waitFor();
    expect(await workbench.runs()).toEqual([]);
    expect(workbench.simulator.answering).toBe(0);
    await window.screenshot(path.join(SCREENS, 'context-dark.png'));
    await window.quickPickRow('Send the question').click();
  });

  it('shows the plan as a graph and streams the steps', async () => {
    const { panel, window, bug } = workbench;
    await panel.question.getByText(bug.question.slice(0, 20)).waitFor();
    await window.resizeSideBar(480);
    await panel.plan().waitFor();
    expect(await panel.plan().getByRole('listitem').count()).toBeGreaterThan(1);
    await expect.poll(() => panel.edges.count()).toBeGreaterThan(0);
    const live = panel.plan().locator('.live').first();
    const early = await live.innerText();
    await expect.poll(() => live.innerText(), { timeout: 30_000 }).not.toBe(early);
    await window.screenshot(path.join(SCREENS, 'streaming-dark.png'));
  });

  it('checks the answer with the project\'s tests', async () => {
    const { panel, window, bug } = workbench;
    await panel.verdict.getByText('Verified').waitFor({ timeout: 120_000 });
    await expect.poll(() => panel.status.innerText()).toContain('Verified');
    await panel.changesIn(bug.path).waitFor();
    await window.screenshot(path.join(SCREENS, 'verified-dark.png'));
    await panel.verdict.scrollIntoViewIfNeeded();
    await window.screenshot(path.join(SCREENS, 'verdict-dark.png'));
  });

  it('changes the files once the diff is accepted, and not before', async () => {
    const { panel, window, project, bug } = workbench;
    const file = path.join(project, bug.path);
    const before = await readFile(file, 'utf8');
    await panel.button('Review and apply').click();
    await window.tab(/Conductor’s answer/).waitFor();
    expect(await readFile(file, 'utf8')).toBe(before);
    await window.quickPickRow('Accept').waitFor();
    await window.screenshot(path.join(SCREENS, 'review-dark.png'));
    await window.quickPickRow('Accept').click();
    await panel.answer.getByText(`Applied to ${bug.path}`).waitFor();
    expect(await readFile(file, 'utf8')).not.toBe(before);
    await window.tab(/Conductor’s answer/).waitFor({ state: 'detached' });
    await panel.button('Review again…').waitFor();
    await panel.button('Undo the answer').scrollIntoViewIfNeeded();
    await window.screenshot(path.join(SCREENS, 'applied-dark.png'));
  });

  it('is found again after the panel was hidden, and after the window was reloaded', async () => {
    const { panel, window, bug } = workbench;
    await window.runCommand('View: Show Explorer');
    await panel.question.waitFor({ state: 'detached' });
    await window.runCommand('Conductor: Show Panel');
    await panel.answer.getByText(`Applied to ${bug.path}`).waitFor();
    await window.reload();
    await panel.changesIn(bug.path).waitFor({ timeout: 60_000 });
    await expect.poll(() => panel.status.innerText()).toContain('Verified');
  });

  it('can be taken back from the panel', async () => {
    const { panel, project, bug } = workbench;
    const file = path.join(project, bug.path);
    const applied = await readFile(file, 'utf8');
    await panel.button('Undo the answer').click();
    await panel.answer.getByText('Undone').waitFor();
    expect(await readFile(file, 'utf8')).not.toBe(applied);
    await panel.button('Review and apply').waitFor();
  });

  it('reads well in a light theme, too', async () => {
    const { window } = workbench;
    await window.useTheme('light');
    await window.screenshot(path.join(SCREENS, 'verified-light.png'));
    await workbench.panel.verdict.scrollIntoViewIfNeeded();
    await window.screenshot(path.join(SCREENS, 'verdict-light.png'));
  });
});
