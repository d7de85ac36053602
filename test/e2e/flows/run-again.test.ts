import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');

describe('a run that is there', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({ seed: 8, width: 1_440, height: 1_000 });
    // Enough for the plan and the first of its steps.
    await setBudget({ runTokens: 15_000, warnAtPercent: 1 });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  /**
   * How many steps the plan of the newest run has. The simulated Conductor plans by all that it is sent, so also by what the tests have said
   * by then, which is less on a busy machine.
   */
  async function stepsOfNewest(): Promise<number> {
    const [{ runId = '' } = {}] = await workbench.runs();
    return (await workbench.asOther((client) => client.request('run/get', { runId }))).run.rounds[0]?.steps.length ?? 0;
  }

  async function setBudget(budget: object): Promise<void> {
    const file = path.join(workbench.home, 'workers.json');
    await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')) as object, budget }));
  }

  it('tells that its budget is nearly spent, and stops at it', async () => {
    const { panel, window, simulator } = workbench;
    await workbench.solve();
    await window.notification('of its 15k tokens').waitFor({ timeout: 60_000 });
    await expect.poll(() => panel.status.innerText(), { timeout: 60_000 }).toBe('Stopped by its token limit');
    expect(simulator.asked).toBe(2);
    await window.resizeSideBar(480);
    await panel.frame.locator('.status').getByText('% of its tokens').waitFor();
    await panel.frame.locator('.status').getByText('of 15,000 tokens').waitFor();
    await window.screenshot(path.join(SCREENS, 'stopped-dark.png'));
  });

  it('goes on once somebody says how far, and pays for nothing twice', async () => {
    const { panel, window, simulator } = workbench;
    await panel.button('Resume…').click();
    await window.answerInput('Maximum total tokens of this run', '400000');
    await panel.verdict.getByText('Verified').waitFor({ timeout: 120_000 });
    expect(simulator.asked).toBe(1 + await stepsOfNewest());
  });

  it('has one of its steps asked again, in a new run that leads back', async () => {
    const { panel, window, simulator } = workbench;
    const before = simulator.asked;
    await window.runCommand('Conductor: Retry Step…');
    await window.quickPickRow('Round 1, step 2').click();
    await panel.question.getByText('Step 2 of round 1 and the steps that read it ran again').waitFor({ timeout: 60_000 });
    await panel.verdict.getByText('Verified').waitFor({ timeout: 120_000 });
    expect(simulator.asked).toBe(before + await stepsOfNewest() - 1);
    await window.screenshot(path.join(SCREENS, 'retried-dark.png'));
    await panel.button('an earlier run').click();
    await panel.question.getByText('ran again').waitFor({ state: 'detached' });
  });

  it('has it asked again from the details of the step, too', async () => {
    const { panel, window, simulator } = workbench;
    const before = simulator.asked;
    await panel.button('Show the details of step 2').click();
    await panel.button(/^Retry this step/).click();
    await panel.question.getByText('Step 2 of round 1 and the steps that read it ran again').waitFor({ timeout: 60_000 });
    await panel.verdict.getByText('Verified').waitFor({ timeout: 120_000 });
    expect(simulator.asked).toBe(before + await stepsOfNewest() - 1);
    await window.screenshot(path.join(SCREENS, 'retried-from-details-dark.png'));
  });

  it('is asked again of other workers', async () => {
    const { panel, window, simulator } = workbench;
    const before = simulator.asked;
    await setBudget({});
    await panel.button('Run with other workers…').click();
    await window.quickInput.filter({ hasText: 'Which workers answer this time?' }).or(window.quickPickRow('sim-')).first().waitFor();
    await window.screenshot(path.join(SCREENS, 'other-workers-dark.png'));
    await window.acceptPick();
    await window.quickPickRow('planned the run before').waitFor();
    await window.acceptPick();
    await panel.question.getByText('Asks the question of an earlier run again').waitFor({ timeout: 60_000 });
    await panel.verdict.getByText('Verified').waitFor({ timeout: 120_000 });
    expect(simulator.asked).toBe(before + 1 + await stepsOfNewest());
  });

  it('is written down as a document', async () => {
    const { panel, window, project, home, bug } = workbench;
    await panel.button('Export this run').click();
    await window.quickPickRow('Markdown').click();
    const runId = (await workbench.runs())[0]?.runId ?? '';
    const name = `conductor-${runId}.md`;
    await expect.poll(() => window.quickInputBox.inputValue()).toContain(name);
    // Not into the project, unless somebody says so.
    expect(await window.quickInputBox.inputValue()).not.toContain(project);
    await window.quickInputBox.fill(path.join(home, name));
    // A folder there: while the list is read, OK counts for nothing, and Enter would open what is marked in it.
    await window.quickPickRow('verify').waitFor();
    await expect.poll(async () => {
      await window.page.getByRole('button', { name: 'OK', exact: true }).click({ timeout: 2_000 }).catch(() => undefined);
      return await window.quickInputBox.waitFor({ state: 'hidden', timeout: 2_000 }).then(() => true, () => false);
    }).toBe(true);
    await window.notification(name).waitFor();
    const text = await readFile(path.join(home, name), 'utf8');
    expect(text).toContain(`# Conductor run ${runId}\n\n**SIMULATED: `);
    expect(text).toContain(bug.question);
    expect(text).toMatch(new RegExp(`^### Step ${await stepsOfNewest()}: \`sim-\\w+\`, the answer of the round$`, 'm'));
  });

  it('reads well in a light theme, too', async () => {
    const { window, panel } = workbench;
    await window.useTheme('light');
    await panel.button('Export this run').scrollIntoViewIfNeeded();
    await window.screenshot(path.join(SCREENS, 'again-light.png'));
  });
});
