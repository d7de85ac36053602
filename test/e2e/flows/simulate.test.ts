import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');
const SIMULATE = 'Conductor: Start or End Simulation';

describe('a simulation, for somebody without a key', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({ hasPool: false, width: 1_440, height: 1_000 });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  const label = () => workbench.panel.frame.getByText(/^Simulated: sim-fern, .* and sim-juniper answer from a simulator, not from a real model\.$/);

  it('lets workers answer that the panel calls simulated, and offers the practice folder', async () => {
    const { window, panel } = workbench;
    await window.runCommand('Conductor: Show Panel');
    await window.resizeSideBar(480);
    await panel.button('See a demonstration first').waitFor();
    await window.runCommand(SIMULATE);
    await window.modal('Let simulated workers answer?').getByText('shows nothing about real models').waitFor();
    await window.screenshot(path.join(SCREENS, 'simulation-offer-dark.png'));
    await window.answerModal('Let simulated workers answer?', 'Start Simulation');
    await window.notification('Simulated workers answer now').getByRole('button', { name: 'Open Practice Folder' }).waitFor();
    await label().waitFor();
    await panel.ask.fill('Why is the sky blue?');
    await expect.poll(() => panel.button('Solve').isDisabled()).toBe(false);
    await window.screenshot(path.join(SCREENS, 'simulation-dark.png'));
  });

  it('ends by the same command', async () => {
    const { window, panel } = workbench;
    await window.runCommand(SIMULATE);
    await window.answerModal('Simulated workers answer now.', 'End Simulation');
    await label().waitFor({ state: 'detached' });
    await panel.frame.getByText('Your question waits here').waitFor();
  });
});
