import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { skillsOf } from '../../../backend/simulator/skills.ts';
import { FLAWLESS_WORKERS } from '../harness/simulated-home.ts';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');

/** As far below 0 nothing goes right. */
const HOPELESS_WORKERS = FLAWLESS_WORKERS.map((worker) => ({ ...worker, skills: skillsOf([-10, -10, -10]) }));

describe('an answer that the tests are against', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({ latency: 0, width: 1_440, height: 1_000, workers: HOPELESS_WORKERS });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  it('is offered with what speaks against it, and pressed on nobody', async () => {
    const { window, panel } = workbench;
    await workbench.solve();
    await expect.poll(() => panel.status.innerText(), { timeout: 120_000 }).toContain('Not verified');
    await window.resizeSideBar(480);
    await panel.answer.getByText(/\d+ of \d+ tests pass with it, \d+ without it/).scrollIntoViewIfNeeded();
    const review = panel.button(/^(Apply although|Review anyway)/);
    expect(await review.getAttribute('appearance')).not.toBe('primary');
    await review.scrollIntoViewIfNeeded();
    await window.screenshot(path.join(SCREENS, 'not-verified-dark.png'));
  });

  it('changes nothing where somebody just presses Enter', async () => {
    const { window, panel, project, bug } = workbench;
    const file = path.join(project, bug.path);
    const before = await readFile(file, 'utf8');
    await panel.button(/^(Apply although|Review anyway)/).click();
    await window.quickPickRow(/Accept.*(breaks \d+ test|the tests do not confirm it)/).waitFor();
    await window.screenshot(path.join(SCREENS, 'not-verified-review-dark.png'));
    await window.page.keyboard.press('Enter');
    await panel.answer.getByText('Rejected; no file was changed.').waitFor();
    expect(await readFile(file, 'utf8')).toBe(before);
  });
});
