import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ScriptedServer } from '../../support/scripted-server.ts';
import { MINI, MINI_PLAN_TOKENS, unequalAnswer, unequalWorkers } from '../../support/unequal-workers.ts';
import { trySandbox } from '../../verify/setup.ts';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');
const FINE_TUNE = 'Conductor: Fine-tune on Project Tests';

/** Enough to look at a training while it runs: a step takes about three seconds. */
const STEPS = 16;
/** Those of all steps, and of the tries on the way, a tenth as many of at most two plans each. */
const PLANS = STEPS * 2 * 4 + 12 * 2;
/** Of a training at which nobody looks. */
const FEW_STEPS = 3;

const { available, note } = await trySandbox();

/* A training as a person begins and follows it, of conductor-mini, with simulated workers of whom one is always right: it learns to choose that one.
   What is shown is that everything is there and does what it says. */
describe.skipIf(!available)(`fine-tuning (${note})`, { timeout: 600_000 }, () => {
  let workbench: Workbench;
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await ScriptedServer.start(unequalAnswer);
    workbench = await Workbench.start({ latency: 0, width: 1_440, height: 1_000 });
    const tasks = Array.from({ length: 12 }, (_, index) => ({ id: `t${index}`, question: `What is ${index}?`, grader: { kind: 'exact', answer: String(index) } }));
    await writeFile(path.join(workbench.project, 'conductor.tasks.jsonl'), tasks.map((task) => JSON.stringify(task)).join('\n'));
    await configure({ project: false });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(async () => {
    await workbench?.stop();
    await server.close();
  });

  const configure = (tasks: { readonly project: boolean }, steps = STEPS): Promise<void> =>
    writeFile(path.join(workbench.project, 'conductor.train.json'), JSON.stringify({
      tasks: { ...tasks, heldOut: 0.3 }, steps, tasksPerStep: 2, groupSize: 4, maxTokens: MINI_PLAN_TOKENS, adapter: { rank: 2 },
      evaluation: { samples: 1 }, budget: { usd: 3 },
    }));

  it('is of the model that is part of Conductor while a worker plans, and says so', async () => {
    const { window } = workbench;
    await window.runCommand(FINE_TUNE);
    await window.modal('Train "conductor-mini" for at most $3.00?').getByText('sim-conductor plans your questions until you adopt').waitFor();
    await window.answerModal('Train "conductor-mini"', 'Cancel');
  });

  it('is offered of the model that is part of Conductor where nobody else plans', async () => {
    const { window, simulator, home } = workbench;
    const workers = simulator.workers();
    const [unpriced] = workers;
    await writeFile(path.join(home, 'workers.json'), JSON.stringify({
      version: 1, workers: [...workers, { ...unpriced, id: 'unpriced', price: undefined }], local: { device: 'cpu', precision: 'full' },
    }));
    await window.runCommand(FINE_TUNE);
    const modal = window.modal('Train "conductor-mini" for at most $3.00?');
    await modal.getByText('No known price: unpriced. For their calls, the training pauses at 1.2M tokens.').waitFor();
    await window.screenshot(path.join(SCREENS, 'fine-tune-unpriced-dark.png'));
    await window.answerModal('Train "conductor-mini"', 'Cancel');
  });

  it('opens its settings from its dialog', async () => {
    const { window } = workbench;
    await window.runCommand(FINE_TUNE);
    await window.answerModal('Train "conductor-mini"', 'Edit Settings…');
    await window.notification('Save the settings when you are done').waitFor();
    await window.editorTab('conductor.train.json').waitFor();
    expect(await window.page.locator('.squiggly-warning').count()).toBe(0);
  });

  it('opens settings that it cannot use, where VS Code marks what is wrong', async () => {
    const { window, project } = workbench;
    await writeFile(path.join(project, 'conductor.train.json'), '{"step": 5}');
    await window.runCommand(FINE_TUNE);
    await window.notification('conductor.train.json: ').getByRole('button', { name: 'Open File' }).click();
    await window.page.locator('.squiggly-warning').first().waitFor();
    await window.screenshot(path.join(SCREENS, 'fine-tune-settings-dark.png'));
    await configure({ project: false });
    await window.page.locator('.squiggly-warning').waitFor({ state: 'detached' });
  });

  it('says what it may spend and with whom, and changes the budget before it begins', async () => {
    const { window, home } = workbench;
    await writeFile(path.join(home, 'workers.json'), JSON.stringify({
      version: 1,
      conductor: 'tiny',
      workers: [{ id: 'tiny', provider: 'local', model: MINI, promptProfile: 'mini', enabled: false }, ...unequalWorkers(server.baseUrl)],
      local: { device: 'cpu', precision: 'full' },
    }));
    await window.runCommand(FINE_TUNE);
    const modal = window.modal('Train "tiny" for at most $3.00?');
    await modal.getByText(new RegExp(`carry out up to ${PLANS} plans`)).waitFor();
    await modal.getByText(/simulated/).waitFor();
    await window.screenshot(path.join(SCREENS, 'fine-tune-offer-dark.png'));
    await window.answerModal('Train "tiny"', 'Change Budget…');
    await window.answerInput('Maximum cost of the training', '2.50');
    await window.answerModal('Train "tiny" for at most $2.50?', 'Begin');
  });

  it('is followed in the panel, with curves over its steps, and in the status bar', async () => {
    const { window, panel } = workbench;
    await window.resizeSideBar(520);
    await panel.frame.getByText('Simulated: the workers of this training').waitFor();
    await panel.curve('Reward').waitFor({ timeout: 240_000 });
    await panel.frame.getByText(/of \$2\.50/).waitFor();
    await window.statusItem(new RegExp(`^Conductor training: training, \\d+ of ${STEPS} steps, \\$`)).waitFor();
    await window.screenshot(path.join(SCREENS, 'fine-tune-dark.png'));
  });

  it('says which tasks it was given', async () => {
    const { panel } = workbench;
    const tasks = panel.frame.getByRole('region', { name: 'Tasks of the training' });
    await tasks.getByRole('button', { name: /^Tasks/ }).click();
    await tasks.getByText('It is in conductor.tasks.jsonl, whose tasks are used as they are.').first().waitFor();
    await tasks.getByRole('button', { name: /^Tasks/ }).click();
  });

  it('shows the plans of the step under way, and the whole of one while others come', async () => {
    const { window, panel } = workbench;
    const plans = panel.frame.getByRole('region', { name: /^Plans of step \d+$/ });
    const first = plans.getByRole('button', { name: /^Plan 1 of task 1/ });
    await first.click();
    await plans.getByRole('button', { name: 'As it was written' }).waitFor();
    await plans.getByText(/^Step \d+ has begun/).waitFor({ timeout: 60_000 });
    await plans.getByRole('button', { name: 'As it was written' }).scrollIntoViewIfNeeded();
    await window.screenshot(path.join(SCREENS, 'fine-tune-plan-dark.png'));
    await plans.getByRole('button', { name: /^Plan 1 of task 1/ }).click();
    await plans.getByText(/^Step \d+ has begun/).waitFor({ state: 'detached' });
  });

  it('pauses, and says so in the status bar, which leads to it', async () => {
    const { window, panel } = workbench;
    await panel.button('Pause this training').click();
    await expect.poll(() => panel.status.innerText(), { timeout: 60_000 }).toBe('Paused');
    await panel.button('Runs').click();
    await panel.status.waitFor({ state: 'detached' });
    await window.statusItem(new RegExp(`^Conductor training: training paused, \\d+ of ${STEPS} steps`)).click();
    await expect.poll(() => panel.status.innerText()).toBe('Paused');
  });

  it('is found again after the panel was hidden, and after the window was reloaded', async () => {
    const { window, panel } = workbench;
    await window.runCommand('View: Show Explorer');
    await panel.curve('Reward').waitFor({ state: 'detached' });
    await window.runCommand('Conductor: Show Panel');
    await panel.curve('Reward').waitFor();
    await window.reload();
    await panel.curve('Reward').waitFor({ timeout: 60_000 });
    await expect.poll(() => panel.status.innerText()).toBe('Paused');
  });

  it('goes on with a larger budget to the comparison on held-out tasks', async () => {
    const { window, panel } = workbench;
    await panel.button('Raise budget…').click();
    await window.answerInput('Maximum total cost of the training', '4');
    await panel.frame.getByText(/of \$4\.00/).waitFor();
    await panel.frame.getByRole('region', { name: 'Held-out comparison' }).getByText(/however often one looks/).waitFor({ timeout: 400_000 });
    await expect.poll(() => panel.status.innerText()).toBe('Trained');
    await window.statusItem(/^Conductor training/).waitFor({ state: 'detached' });
    await window.screenshot(path.join(SCREENS, 'fine-tune-compared-dark.png'));
    await window.useTheme('light');
    await window.screenshot(path.join(SCREENS, 'fine-tune-compared-light.png'));
    const plans = panel.frame.getByRole('region', { name: `Plans of step ${STEPS}`, exact: true });
    await plans.getByRole('button', { name: /^Plan 1 of task 1/ }).click();
    await plans.getByRole('button', { name: 'As it was written' }).scrollIntoViewIfNeeded();
    await window.screenshot(path.join(SCREENS, 'fine-tune-plan-light.png'));
    await plans.getByRole('button', { name: /^Plan 1 of task 1/ }).click();
  });

  it('is not offered where a few tries do not tell that it is better, and gets more of them', async () => {
    const { panel } = workbench;
    await panel.frame.locator('.comparison-verdict').getByText('Not known').waitFor();
    expect(await panel.button('Adopt what was trained').count()).toBe(0);
    await panel.button('Try the held-out tasks as often again').click();
    await expect.poll(() => panel.status.innerText(), { timeout: 60_000 }).not.toBe('Trained');
    await expect.poll(() => panel.status.innerText(), { timeout: 120_000 }).toBe('Trained');
  });

  it('is opened again from the list of trainings', async () => {
    const { panel } = workbench;
    await panel.button('Runs').click();
    await panel.frame.getByRole('region', { name: 'Trainings' }).getByRole('button', { name: /^Trained/ }).click();
    await panel.curve('Reward').waitFor();
  });

  it('says of each task that it makes of the project why it was admitted or left out, while it makes them', async () => {
    const { window, panel } = workbench;
    await configure({ project: true });
    await beginAgain();
    await window.statusItem(/^Conductor training: preparing to train/).waitFor();
    // The panel may hear of it after the status bar, and shows the tasks of the training before until then.
    await expect.poll(() => panel.status.innerText()).toBe('Preparing');
    const tasks = panel.frame.getByRole('region', { name: 'Tasks of the training' });
    await tasks.getByRole('button', { name: /^Tasks/ }).click();
    await tasks.getByText(/^src\/\S+/).first().waitFor({ timeout: 120_000 });
    await tasks.getByText(/tests? that passed still did/).first().waitFor({ timeout: 60_000 });
    await window.screenshot(path.join(SCREENS, 'fine-tune-tasks-light.png'));
  });

  it('is paused while it makes tasks, and goes on where it was', async () => {
    const { window, panel } = workbench;
    await panel.button('Pause this training').click();
    await expect.poll(() => panel.status.innerText(), { timeout: 60_000 }).toBe('Paused');
    const tried = async (): Promise<number> => Number(/(\d+) of \d+ (?:candidates )?tried/.exec(await panel.frame.locator('.training-progress').innerText())?.[1] ?? 0);
    const before = await tried();
    expect(before).toBeGreaterThan(0);
    await panel.frame.getByText(/tried, \d+ admitted/).waitFor();
    await window.screenshot(path.join(SCREENS, 'fine-tune-paused-tasks-light.png'));
    await panel.button('Resume this training').click();
    await expect.poll(() => panel.status.innerText(), { timeout: 60_000 }).toBe('Preparing');
    await expect.poll(tried, { timeout: 60_000 }).toBeGreaterThanOrEqual(before);
  });

  it('is cancelled for good after a question', async () => {
    const { window, panel } = workbench;
    await panel.button('Cancel this training').click();
    await window.answerModal('Cancel this training?', 'Cancel Training');
    await expect.poll(() => panel.status.innerText(), { timeout: 60_000 }).toBe('Cancelled');
  });

  it('is said to be over where nobody looks at it', async () => {
    const { window, panel } = workbench;
    await configure({ project: false }, FEW_STEPS);
    await beginAgain();
    await panel.button('Pause this training').click();
    await expect.poll(() => panel.status.innerText(), { timeout: 60_000 }).toBe('Paused');
    await window.runCommand('View: Show Explorer');
    await panel.status.waitFor({ state: 'detached' });
    await workbench.asOther(async (client) => {
      const [training] = (await client.request('training/list', {})).trainings;
      await client.request('training/resume', { trainingId: training?.trainingId ?? '' });
    });
    await window.notification('Training of "tiny": Whether it is better on held-out tasks is not known').getByRole('button', { name: 'Show Training' }).click({ timeout: 400_000 });
    await expect.poll(() => panel.status.innerText()).toBe('Trained');
    await panel.button('Runs').click();
    await expect.poll(() => panel.frame.getByRole('region', { name: 'Trainings' }).getByRole('listitem').count()).toBe(3);
  });

  async function beginAgain(): Promise<void> {
    await workbench.panel.button('Train again').click();
    await workbench.window.answerModal('Train "tiny" for at most $3.00?', 'Begin');
  }
});
