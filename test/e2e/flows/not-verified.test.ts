import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { skillsOf } from '../../../backend/simulator/skills.ts';
import { answerAsWorker } from '../../../backend/simulator/worker-model.ts';
import { lookInBothThemes } from '../harness/look.ts';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');

/** As far below 0 nothing goes right. */
const HOPELESS = skillsOf([-10, -10, -10]);

/** A test that no change of the project mends. */
const RED_ANYWAY = `import test from 'node:test';
test('needs a program that is not here', () => { throw new Error('no such program'); });
`;

describe('an answer that the tests are against', () => {
  let workbench: Workbench;
  let isHopeless = true;

  beforeAll(async () => {
    workbench = await Workbench.start({
      latency: 0, width: 1_440, height: 1_000, rule: (character, request) => answerAsWorker({ ...character, ...(isHopeless && { skills: HOPELESS }) }, request),
    });
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
    await window.acceptPick();
    await panel.answer.getByText('Rejected; no file was changed.').waitFor();
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  it('waits with its verdict where only a test is red that failed before, and is judged without that test for nothing', async () => {
    const { window, panel, project, simulator } = workbench;
    isHopeless = false;
    await writeFile(path.join(project, 'test', 'machine.test.js'), RED_ANYWAY);
    await workbench.solve();
    await expect.poll(() => panel.status.innerText(), { timeout: 120_000 }).toBe('The verdict waits for you');
    await panel.frame.getByText('1 test that failed before still fails.').waitFor();
    await lookInBothThemes(workbench, 'verdict-waits');
    const asked = simulator.asked;
    await panel.button('Leave it out').click();
    await panel.verdict.getByText('Verified').waitFor({ timeout: 120_000 });
    expect(simulator.asked).toBe(asked);
    await window.screenshot(path.join(SCREENS, 'verdict-left-out-dark.png'));
  });

  it('leaves that test out of later questions, and says so, until that is taken back', async () => {
    const { window, panel } = workbench;
    await workbench.solve();
    await panel.frame.getByText('1 test is left out while it fails, as you said before.').waitFor({ timeout: 60_000 });
    await panel.verdict.getByText('Verified').waitFor({ timeout: 120_000 });
    await panel.button('Take back').click();
    await panel.frame.getByText('It counts in your next questions.').waitFor();
    await window.screenshot(path.join(SCREENS, 'left-out-taken-back-dark.png'));
    await workbench.solve();
    await expect.poll(() => panel.status.innerText(), { timeout: 120_000 }).toBe('The verdict waits for you');
    await panel.button('It must pass').click();
    await expect.poll(() => panel.status.innerText(), { timeout: 60_000 }).toContain('Not verified');
  });
});
