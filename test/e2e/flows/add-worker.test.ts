import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Workbench } from '../harness/workbench.ts';

const KEY_NAME = 'SIMULATOR_KEY';
const KEY = 'sk-simulated-0123456789';

describe('the first worker', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({ hasPool: false, key: KEY, latency: 0 });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  it('is asked for by the panel, and tried before it is saved', async () => {
    const { window, panel, simulator } = workbench;
    await window.runCommand('Conductor: Show Panel');
    await panel.button('Add a worker').click();
    await window.quickPickRow('Another server with OpenAI’s API').click();
    await window.answerInput('name of the model', 'sim-ember');
    await window.answerInput('Address of the server', `${simulator.url}/v1`);
    await window.answerInput('Name of the key', KEY_NAME);
    await window.answerInput(`Value of ${KEY_NAME}`, 'wrong');
    await window.answerInput('A short name', 'ember');
    await window.answerInput('What is it good at', '');
    await window.modal('The worker "ember" did not answer.').getByText(KEY_NAME).waitFor();
  });

  it('is saved once its key is right, and the key stays out of every file', async () => {
    const { window, panel, home, server } = workbench;
    await window.answerModal('did not answer', 'Enter Another Key');
    await window.answerInput(`Value of ${KEY_NAME}`, KEY);
    await window.notification('Added the worker "ember"').waitFor();
    await panel.frame.getByText('Workers: ember').waitFor();
    expect(await filesWith(home, KEY_NAME)).toContain('workers.json');
    expect(await filesWith(home, KEY)).toEqual([]);
    expect(await filesWith(server.folder, KEY)).toEqual([]);
  });
});

/** The files under `folder` that hold `text`, journal and logs included. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const holding = await Promise.all(files.map(async (file) => (await readFile(file)).includes(text)));
  return files.filter((_, index) => holding[index]).map((file) => path.relative(folder, file));
}
