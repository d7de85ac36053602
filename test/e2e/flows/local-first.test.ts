import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunSnapshot } from '../../../backend/protocol/run-snapshot.ts';
import { answerAsWorker } from '../../../backend/simulator/worker-model.ts';
import { signature } from '../../../backend/simulator/worker-texts.ts';
import { lookAlsoNarrow } from '../harness/look.ts';
import { FLAWLESS_WORKERS } from '../harness/simulated-home.ts';
import { Workbench } from '../harness/workbench.ts';

/** The worker that costs nothing, as a model on one's own machine does. */
const FREE = 'sim-ember';

/** A worker that costs nothing tries before anybody is paid. All workers are simulated; the tests that judge are real. */
describe('local first', () => {
  let workbench: Workbench;
  /** How many of the next answers of the worker that costs nothing are wrong: the try alone, whatever a plan asks of it later. */
  let wrongAnswers = 1;

  beforeAll(async () => {
    workbench = await Workbench.start({
      workers: FLAWLESS_WORKERS.map((worker) => (worker.name === FREE ? { ...worker, price: { inputPerMillion: 0, outputPerMillion: 0 } } : worker)),
      rule: (character, request) => {
        if (character.name !== FREE || wrongAnswers === 0) return answerAsWorker(character, request);
        wrongAnswers -= 1;
        return `${signature(FREE)}\n\n${remarkAlone}`;
      },
      count: true, width: 1_440, height: 1_000,
    });
    const { bug, project } = workbench;
    const source = await readFile(path.join(project, bug.path), 'utf8');
    remarkAlone = `\`\`\`js ${bug.path}\n${source}// This may be the cause.\n\`\`\``;
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());
  let remarkAlone = '';

  /** Asks in the panel's own box, and waits until the run has ended verified. */
  async function ask(): Promise<RunSnapshot> {
    const { panel, window, bug } = workbench;
    await panel.ask.fill(bug.question);
    await panel.button('Solve').click();
    await window.quickPickRow('Send the question').click();
    await expect.poll(() => panel.status.innerText(), { timeout: 240_000 }).toMatch(/^Verified/);
    const [{ runId = '' } = {}] = await workbench.runs();
    return (await workbench.asOther((client) => client.request('run/get', { runId }))).run;
  }

  const look = (name: string): Promise<void> => lookAlsoNarrow(workbench, `local-first-${name}`);

  it('is off until it is chosen, and stays chosen', async () => {
    const { panel, window } = workbench;
    await window.runCommand('Conductor: Show Panel');
    await window.resizeSideBar(520);
    const choice = panel.frame.getByRole('checkbox', { name: 'Local first' });
    expect(await choice.isChecked()).toBe(false);
    await choice.check();
    await panel.frame.getByText(`${FREE} tries first · no question tried in this project yet`).waitFor();
    await look('chosen');
  });

  it('pays for a plan where the tests are red after the try', async () => {
    const { panel } = workbench;
    const { rounds, spent, pool } = await ask();
    const [tried, ...planned] = rounds;
    expect(tried).toMatchObject({ localTry: { record: { tried: 0 } }, verdict: { verified: false }, steps: [{ worker: pool.findIndex(({ id }) => id === FREE) }] });
    expect(planned.at(-1)).toMatchObject({ verdict: { verified: true } });
    expect(spent.usd).toBeGreaterThan(0);
    await panel.frame.getByRole('button', { name: /local try/ }).click();
    await panel.frame.getByText('Tried first, because it costs nothing').waitFor();
    await look('red');
  });

  it('costs nothing where they verify the try, and its record is shown', async () => {
    const { panel } = workbench;
    await panel.button('Runs').click();
    await panel.frame.getByText(`${FREE} tries first · 1 question tried in this project, 0 verified`).waitFor();
    const { rounds, spent } = await ask();
    expect(rounds).toMatchObject([{ localTry: { record: { tried: 1, verified: 0 } }, verdict: { verified: true } }]);
    expect(spent.usd).toBe(0);
    await panel.frame.getByText('of the local try: nobody was paid').waitFor();
    await look('verified');
    await panel.button('Runs').click();
    await panel.frame.getByText(`${FREE} tries first · 2 questions tried in this project, 1 verified`).waitFor();
    await look('record');
  });
});
