import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answerAsWorker } from '../../../backend/simulator/worker-model.ts';
import { lookAlsoNarrow } from '../harness/look.ts';
import { FLAWLESS_WORKERS } from '../harness/simulated-home.ts';
import { Workbench } from '../harness/workbench.ts';

/** Both take pictures, until they are said not to. */
const TEAM = FLAWLESS_WORKERS.slice(0, 2).map((worker) => ({ ...worker, seesPictures: true }));

/** A question with pictures. The workers are simulated. */
describe('pictures of a question', () => {
  let workbench: Workbench;

  /** What came to the workers. */
  const asked: { readonly worker: string; readonly pictures: number; readonly isTold: boolean }[] = [];

  beforeAll(async () => {
    workbench = await Workbench.start({
      workers: TEAM,
      rule: (character, request) => {
        asked.push({
          worker: character.name, pictures: request.messages.flatMap(({ pictures = [] }) => pictures).length,
          isTold: request.messages.some(({ content }) => content.includes('2 pictures (PNG, 640 x 400; JPEG, 300 x 500), which you cannot see.')),
        });
        return answerAsWorker(character, request);
      },
      width: 1_440, height: 1_000,
    });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  const thumbnails = (): Locator => workbench.panel.frame.getByRole('list', { name: 'Pictures' }).getByRole('img');

  const look = (name: string): Promise<void> => lookAlsoNarrow(workbench, `pictures-${name}`);

  it('are pasted and dropped, and shown small', async () => {
    const { panel, window } = workbench;
    await window.runCommand('Conductor: Show Panel');
    await window.resizeSideBar(520);
    await panel.ask.fill(workbench.bug.question);

    const pasted = await window.page.screenshot({ clip: { x: 0, y: 0, width: 640, height: 400 } });
    await window.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await window.page.evaluate(async (base64) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      await navigator.clipboard.write([new ClipboardItem({ 'image/png': new Blob([bytes], { type: 'image/png' }) })]);
    }, pasted.toString('base64'));
    await panel.ask.click();
    await window.page.keyboard.press('Control+V');
    await thumbnails().first().waitFor();

    const dropped = await window.page.screenshot({ type: 'jpeg', clip: { x: 0, y: 0, width: 300, height: 500 } });
    await panel.ask.evaluate((box, base64) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([bytes], 'window.jpg', { type: 'image/jpeg' }));
      for (const type of ['dragover', 'drop']) box.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, composed: true, cancelable: true }));
    }, dropped.toString('base64'));
    await expect.poll(() => thumbnails().count()).toBe(2);
    expect(await Promise.all((await thumbnails().all()).map((one) => one.getAttribute('aria-label')))).toEqual(['Picture: PNG, 640 x 400', 'Picture: JPEG, 300 x 500']);
    // Drawn, and not only named.
    await expect.poll(() => thumbnails().locator('canvas').filter({ visible: true }).count()).toBe(2);
    await look('asked');
  });

  it('go to the workers that see', async () => {
    const { panel, window } = workbench;
    await panel.button('Solve').click();
    await window.quickPickRow('Send the question').click();
    await panel.question.getByText('All workers see them.').waitFor();
    await expect.poll(() => panel.status.innerText(), { timeout: 240_000 }).toMatch(/^Verified/);
    await expect.poll(() => thumbnails().count()).toBe(2);
    expect(asked.length).toBeGreaterThan(0);
    for (const one of asked) expect(one).toMatchObject({ pictures: 2, isTold: false });
    await look('answered');
  });

  it('are told in words to workers that do not see', async () => {
    const { panel, window, home } = workbench;
    const file = path.join(home, 'workers.json');
    const { workers, ...rest } = JSON.parse(await readFile(file, 'utf8')) as { readonly workers: readonly object[] };
    await writeFile(file, JSON.stringify({ ...rest, workers: workers.map((worker) => ({ ...worker, pictures: undefined })) }));
    asked.length = 0;
    await panel.button('Run with other workers…').click();
    await window.quickInput.filter({ hasText: 'Which workers answer this time?' }).or(window.quickPickRow('sim-')).first().waitFor();
    await window.acceptPick();
    await window.quickPickRow('planned the run before').waitFor();
    await window.acceptPick();
    await panel.question.getByText('No worker of this run sees pictures').waitFor({ timeout: 60_000 });
    await expect.poll(() => panel.status.innerText(), { timeout: 240_000 }).toMatch(/^Verified/);
    await expect.poll(() => thumbnails().count()).toBe(2);
    expect(asked.length).toBeGreaterThan(0);
    for (const one of asked) expect(one).toMatchObject({ pictures: 0, isTold: true });
    await look('told');
  });
});
