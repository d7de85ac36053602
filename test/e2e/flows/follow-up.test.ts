import { access, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sourceWith } from '../../../backend/simulator/families/family.ts';
import { bugOf, questionOf } from '../../../backend/simulator/sample-project.ts';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

/** Of the bug that the project has. */
const SEED = 1;
const SCREENS = path.join(ARTIFACTS, 'screens');

/** Of a bug in another file of that project, which is planted later. */
const SECOND = 7;
const second = bugOf(SECOND);
const broken = sourceWith(second.family, [second.variant]) ?? '';

describe('two questions in a row', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({ seed: SEED, latency: 0, width: 1_440, height: 1_000 });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  it('the first is answered, and its change is left where it is', async () => {
    const { panel, window } = workbench;
    await workbench.solve();
    await panel.verdict.getByText('Verified').waitFor({ timeout: 120_000 });
    await window.resizeSideBar(480);
    await panel.followUp.scrollIntoViewIfNeeded();
    await window.screenshot(path.join(SCREENS, 'follow-up-box-dark.png'));
  });

  it('the second is asked under the answer, and builds on the change', async () => {
    const { panel, window, bug, project } = workbench;
    await access(path.join(project, second.family.path));
    await writeFile(path.join(project, second.family.path), broken);
    await panel.followUp.fill(questionOf(SECOND));
    await panel.button('Continue').click();
    await window.quickPickRow('an earlier question, with its answer').waitFor({ timeout: 60_000 });
    await window.quickPickRow('Send the question').click();
    await panel.question.getByText('The change before is not applied, so this answer has both.').waitFor({ timeout: 60_000 });
    await panel.earlier.getByText(bug.question.slice(0, 20)).waitFor();
    await panel.verdict.getByText('Verified').waitFor({ timeout: 180_000 });
    await panel.changesIn(bug.path).waitFor();
    await panel.changesIn(second.family.path).waitFor();
    await window.screenshot(path.join(SCREENS, 'follow-up-dark.png'));
  });

  it('leads back to the first and is one entry among the past runs', async () => {
    const { panel, window, bug } = workbench;
    await panel.earlier.getByRole('button', { name: bug.question.slice(0, 20) }).click();
    await panel.button('Open this run').click();
    await panel.earlier.waitFor({ state: 'detached' });
    await panel.question.getByText(bug.question.slice(0, 20)).waitFor();
    await panel.button('Runs').click();
    await panel.pastRuns.first().waitFor();
    const conversation = panel.frame.getByRole('region', { name: 'Past runs' });
    await conversation.getByRole('button', { name: '1 earlier question' }).click();
    await window.screenshot(path.join(SCREENS, 'conversation-dark.png'));
    await panel.pastRun(questionOf(SECOND).slice(0, 30)).click();
    await panel.earlier.waitFor();
  });

  it('both changes are applied in one step', async () => {
    const { panel, window, project, bug } = workbench;
    await panel.button('Review and apply').click();
    await window.quickPickRow('Accept').waitFor();
    await window.quickPickRow('Accept').click();
    await panel.answer.getByText(/^Applied to /).waitFor();
    expect(await readFile(path.join(project, second.family.path), 'utf8')).not.toBe(broken);
    expect(await readFile(path.join(project, bug.path), 'utf8')).not.toBe(sourceWith(bugOf(SEED).family, [bugOf(SEED).variant]));
    await window.useTheme('light');
    await window.screenshot(path.join(SCREENS, 'follow-up-light.png'));
  });
});
