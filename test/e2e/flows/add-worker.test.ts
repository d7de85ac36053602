import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');
const KEY_NAME = 'LOCAL_SERVER_KEY';
const KEY = 'sk-simulated-0123456789';

interface WorkersJson {
  readonly conductor?: string;
  readonly workers: readonly { id: string; model: string; baseUrl: string; key?: string }[];
}

describe('the first worker', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({ hasPool: false, key: KEY, latency: 0 });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  const workersFile = async (): Promise<WorkersJson> =>
    JSON.parse(await readFile(path.join(workbench.home, 'workers.json'), 'utf8')) as WorkersJson;
  const tick = (model: string) => workbench.window.quickPickRow(model).click();

  it('is offered by each command that has nobody to ask', async () => {
    const { window } = workbench;
    for (const command of ['Choose Conductor', 'Remove Worker', 'Set Key', 'Remove Key']) {
      await window.runCommand(`Conductor: ${command}`);
      const told = window.notification('There is no worker yet.');
      await told.getByRole('button', { name: 'Add Worker' }).waitFor();
      await told.hover();
      await told.getByRole('button', { name: /Clear Notification|Close Notification/ }).first().click();
      await told.waitFor({ state: 'detached' });
    }
    await window.openFile('package.json');
    await window.runCommand('Conductor: Solve Here');
    await window.notification('There is no worker yet that can answer.').getByRole('button', { name: 'Add Worker' }).waitFor();
    expect(await workbench.runs()).toEqual([]);
    await window.runCommand('Conductor: Open Workers File');
    await window.editorTab('workers.json').waitFor();
    expect(await workersFile()).toMatchObject({ version: 1, workers: [] });
  });

  it('is asked for by its server’s address and key, and says so where the key is wrong', async () => {
    const { window, simulator } = workbench;
    await window.notification('There is no worker yet that can answer.').getByRole('button', { name: 'Add Worker' }).click();
    await window.quickPickRow('Another server with OpenAI’s API').click();
    await window.quickInput.filter({ hasText: 'Address of the server' }).waitFor();
    expect(await window.quickInputBox.inputValue()).toBe('');
    await window.screenshot(path.join(SCREENS, 'add-address-dark.png'));
    // Without /v1, which is found by itself.
    await window.answerInput('Address of the server', simulator.url);
    await window.answerInput('The key for 127.0.0.1', 'wrong');
    await window.modal('does not accept this key').getByRole('button', { name: 'Change Address…' }).waitFor();
    await window.screenshot(path.join(SCREENS, 'add-refused-dark.png'));
  });

  it('is one of those that the server lists, and the key stays out of every file', async () => {
    const { window, panel, home, server, simulator } = workbench;
    await window.answerModal('does not accept this key', 'Change Address…');
    await window.quickInput.filter({ hasText: 'Address of the server' }).waitFor();
    expect(await window.quickInputBox.inputValue()).toBe(simulator.url);
    await window.acceptPick();
    await window.answerModal('does not accept this key', 'Enter Another Key');
    await window.answerInput('The key for 127.0.0.1', KEY);
    await window.quickPickRow('sim-ember').waitFor();
    await window.acceptPick();
    await window.quickInput.getByPlaceholder('Nothing is ticked').waitFor();
    await tick('sim-ember');
    await window.screenshot(path.join(SCREENS, 'add-models-dark.png'));
    await window.acceptPick();
    await window.notification('Added the worker "sim-ember"').waitFor();
    await window.runCommand('Conductor: Show Panel');
    await panel.frame.getByText('Workers: sim-ember').waitFor();
    expect((await workersFile()).workers).toMatchObject([{ id: 'sim-ember', model: 'sim-ember', baseUrl: `${simulator.url}/v1`, key: KEY_NAME }]);
    expect(await filesWith(home, KEY)).toEqual([]);
    expect(await filesWith(server.folder, KEY)).toEqual([]);
  });

  it('makes the next of its server a matter of one list', async () => {
    const { window } = workbench;
    await window.runCommand('Conductor: Add Worker');
    await window.quickPickRow('Another model of 127.0.0.1').getByText('1 worker, its key is known').waitFor();
    await window.screenshot(path.join(SCREENS, 'add-another-dark.png'));
    await window.quickPickRow('Another model of 127.0.0.1').click();
    await window.quickPickRow('Another one, by its name').waitFor();
    expect(await window.quickPickRow('sim-ember').count()).toBe(0);
    await tick('Another one, by its name');
    await window.acceptPick();
    await window.answerInput('The server’s name of the model', 'no-such-model');
    await window.modal('The worker "no-such-model" did not answer.').getByText('check the model\'s name and the address').waitFor();
    await window.screenshot(path.join(SCREENS, 'add-failed-dark.png'));
    await window.answerModal('did not answer', 'Change Model…');
    await tick('sim-cedar');
    await window.acceptPick();
    await window.notification('Added the worker "sim-cedar"').waitFor();
    expect((await workersFile()).workers.map(({ id, key }) => [id, key])).toEqual([['sim-ember', KEY_NAME], ['sim-cedar', KEY_NAME]]);
  });

  it('is removed only once that is meant, and its key with it where nobody else has it', async () => {
    const { window } = workbench;
    const remove = async (id: string): Promise<void> => {
      await window.runCommand('Conductor: Remove Worker');
      await window.quickPickRow(id).click();
    };
    await remove('sim-ember');
    await window.answerModal('Remove the worker "sim-ember"?', 'Cancel');
    expect((await workersFile()).workers).toHaveLength(2);
    await remove('sim-ember');
    await window.answerModal('Remove the worker "sim-ember"?', 'Remove Worker');
    await window.notification('Removed the worker "sim-ember".').waitFor();
    await remove('sim-cedar');
    await window.modal('Remove the worker "sim-cedar"?').getByText(`No other worker has its key ${KEY_NAME}.`).waitFor();
    await window.screenshot(path.join(SCREENS, 'remove-worker-dark.png'));
    await window.answerModal('Remove the worker "sim-cedar"?', 'Remove Worker and Key');
    await window.notification(`Removed the worker "sim-cedar" and its key ${KEY_NAME}.`).waitFor();
    expect((await workersFile()).workers).toEqual([]);
  });
});

/** The files under `folder` that hold `text`, journal and logs included. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const holding = await Promise.all(files.map(async (file) => (await readFile(file)).includes(text)));
  return files.filter((_, index) => holding[index]).map((file) => path.relative(folder, file));
}
