import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunSnapshot } from '../../../backend/protocol/run-snapshot.ts';
import { answerAsFlatTeam, FLAT_TEAM } from '../harness/flat-team.ts';
import { writeFlatProject, writeTestOfSkipEmpty } from '../harness/flat-project.ts';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');
const NAMES = FLAT_TEAM.map(({ name }) => name);

/** What somebody asks first of a package that they have just cloned; its workers are simulated, and everything else is real. */
describe('the first questions to four workers', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({
      hasPool: false, writeProject: writeFlatProject, workers: FLAT_TEAM, rule: answerAsFlatTeam, width: 1_200, height: 1_100,
    });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  /** Asks in the panel's own box and waits for the end. @returns the run as the journal has it */
  async function ask(question: string, end: RegExp): Promise<RunSnapshot> {
    const { panel, window } = workbench;
    const before = await workbench.runs();
    if (before.length > 0) await panel.button('Runs').click();
    await panel.ask.fill(question);
    await panel.button('Solve').click();
    await window.quickPickRow('Send the question').click();
    await panel.question.getByText(question).waitFor();
    await expect.poll(() => panel.status.innerText(), { timeout: 60_000 }).toMatch(end);
    const [{ runId = '' } = {}] = await workbench.runs();
    return (await workbench.asOther((client) => client.request('run/get', { runId }))).run;
  }

  /** Pictures in both themes. */
  async function look(name: string): Promise<void> {
    const { panel, window } = workbench;
    for (const theme of ['light', 'dark'] as const) {
      await window.useTheme(theme);
      await panel.frame.locator(`body.vscode-${theme}`).waitFor();
      await window.screenshot(path.join(SCREENS, `four-workers-${name}-${theme}.png`));
    }
  }

  /** The plan as the panel shows it: how many steps, and who did them. */
  const cast = async (): Promise<string[]> => workbench.panel.plan().getByRole('heading').allInnerTexts();

  it('are asked once four models of a server are added, one of which plans', async () => {
    const { window, panel, home, simulator } = workbench;
    await window.runCommand('Conductor: Add Worker');
    await window.quickPickRow('Another server with OpenAI’s API').click();
    await window.answerInput('Address of the server', simulator.url);
    await window.answerInput('The key for 127.0.0.1', '');
    for (const name of NAMES) await window.quickPickRow(name).click();
    await window.acceptPick();
    await window.notification('Added 4 workers: sim-coder, sim-large, sim-quick, sim-reader. sim-coder plans who does what: the first of your workers, price not known.').waitFor();
    await window.runCommand('Conductor: Show Panel');
    await window.resizeSideBar(520);
    await panel.frame.getByText('Workers: sim-coder, sim-large, sim-quick and sim-reader.').waitFor();
    await look('added');
    // A server's prices are known to whoever pays them.
    const file = path.join(home, 'workers.json');
    const pool = JSON.parse(await readFile(file, 'utf8')) as { conductor?: string; workers: { model: string }[] };
    expect(pool.conductor).toBeUndefined();
    const priced = pool.workers.map((worker) => ({ ...worker, price: FLAT_TEAM.find(({ name }) => name === worker.model)?.price }));
    await writeFile(file, JSON.stringify({ ...pool, workers: priced }));
    await panel.frame.getByText(/sim-large plans: the best planner for its price among your workers · about \$0\.0\d+ a plan/).waitFor();
  });

  it('an explanation is one step, ends with words, and no test is said to have judged it', async () => {
    const { panel } = workbench;
    const run = await ask('How does unflatten() decide whether it makes an array or an object?', /^Answered$/);
    expect(run).toMatchObject({ outcome: 'answered', policy: { choice: { why: 'strongest' }, worker: { id: 'sim-large' } } });
    expect(await cast()).toEqual(['sim-reader']);
    await panel.frame.getByText('Planned by sim-large, the best planner for its price among your workers').waitFor();
    await panel.answer.getByText('decides by the next part of the key').waitFor();
    expect(await panel.verdict.count()).toBe(0);
    expect(run.spent.usd).toBeGreaterThan(0);
    await look('explanation');
  });

  it('a bug is found, mended and checked by three steps that read each other, and the package’s own tests prove it', async () => {
    const { panel, window, bug, project } = workbench;
    const run = await ask(bug.question, /^Verified 51 of 51$/);
    expect(run.rounds).toHaveLength(1);
    expect(run.base?.result).toMatchObject({ total: 51, failed: 1 });
    expect(await cast()).toEqual(['sim-large', 'sim-coder', 'sim-reader']);
    await look('bug');
    await panel.button('Review and apply').click();
    await window.quickPickRow('Accept').click();
    await panel.answer.getByText('Applied to index.js').waitFor();
    expect(await readFile(path.join(project, bug.path), 'utf8')).toBe(bug.correctSource);
  });

  it('a feature is written and checked, and the test that was written for it passes', async () => {
    const { project } = workbench;
    await writeTestOfSkipEmpty(project);
    const run = await ask('Add an option skipEmpty to flatten() that leaves out keys whose value is an empty object or array.', /^Verified 52 of 52$/);
    expect(run.rounds).toHaveLength(1);
    expect(await cast()).toEqual(['sim-coder', 'sim-large']);
    await look('feature');
  });

  it('a thank-you is one step that is shown no code, and costs next to nothing', async () => {
    const run = await ask('thanks, that works', /^Answered$/);
    expect(await cast()).toEqual(['sim-quick']);
    expect(run.context?.pieces).toEqual([]);
    expect(run.spent.usd).toBeLessThan(0.01);
    await look('thanks');
  });
});
