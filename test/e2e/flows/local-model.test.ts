import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { modelFolder } from '../../golden/golden.ts';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const PICTURES = path.join(ARTIFACTS, 'screens');

describe('a model of this machine', () => {
  let workbench: Workbench;
  let model: string;

  beforeAll(async () => {
    workbench = await Workbench.start({ latency: 0, settings: { 'conductor.rounds': 1 } });
    model = await modelWithRoom(path.join(workbench.home, 'tiny-conductor'));
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  it('is chosen by its folder, loaded, and said to plan on the CPU', async () => {
    const { window, panel } = workbench;
    await window.runCommand('Conductor: Choose Conductor Model');
    await window.quickPickRow('A folder on this machine').click();
    const accept = window.quickInput.getByRole('button', { name: 'Use This Model' });
    // The dialog takes a path once it has shown the folder that it begins in, and that the path is in.
    await window.quickPickRow('src').waitFor();
    await window.quickInputBox.fill(model);
    await window.quickPickRow('tiny-conductor').waitFor();
    await accept.click();
    await window.quickPickRow('It plans').click();
    await window.notification('tiny-conductor plays the Conductor now. It runs on the CPU').waitFor();
    await window.runCommand('Conductor: Show Panel');
    await panel.frame.getByText('plans · on the CPU of this machine').waitFor();
    await window.screenshot(path.join(PICTURES, 'local-model-dark.png'));
  });

  it('plans a run of other workers, and the panel says where', async () => {
    const { window, panel } = workbench;
    await workbench.solve();
    await panel.frame.getByText(/[\d.]+ m?s on the CPU/).waitFor({ timeout: 60_000 });
    await panel.step(1).waitFor();
    await panel.answer.waitFor({ timeout: 60_000 });
    await expect.poll(() => workbench.runs(), { timeout: 60_000 }).toMatchObject([{ state: 'completed' }]);
    await panel.frame.getByText('plans · on the CPU of this machine').waitFor();
    await window.screenshot(path.join(PICTURES, 'local-run-dark.png'));
    await window.useTheme('light');
    await window.screenshot(path.join(PICTURES, 'local-run-light.png'));
  });
});

/** The golden tiny model, which reads 2,048 tokens, with room for the context of a project. Its weights are random either way. */
async function modelWithRoom(folder: string): Promise<string> {
  await cp(modelFolder('qwen2-tiny'), folder, { recursive: true });
  const file = path.join(folder, 'config.json');
  const config = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  await writeFile(file, JSON.stringify({ ...config, max_position_embeddings: 16_384 }));
  return folder;
}
