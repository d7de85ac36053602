import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');

/** A folder with every program of this machine but for one. */
async function programsWithout(missing: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conductor-programs-'));
  for (const from of (process.env.PATH ?? '').split(path.delimiter)) {
    for (const name of await readdir(from).catch(() => [])) {
      // Of programs with one name the first counts, as it does on a PATH.
      if (name !== missing) await symlink(path.join(from, name), path.join(folder, name)).catch(() => undefined);
    }
  }
  return folder;
}

describe('where no sandbox can be had', () => {
  let workbench: Workbench;
  let programs: string;

  beforeAll(async () => {
    programs = await programsWithout('bwrap');
    workbench = await Workbench.start({ latency: 0, width: 1_440, height: 1_000, environment: { CONDUCTOR_USER_PATH: programs, CONDUCTOR_WALLS: 'bubblewrap' } });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(async () => {
    await workbench?.stop();
    await rm(programs, { recursive: true });
  });

  it('asks before it runs tests, and has the command that brings one to copy', async () => {
    const { window } = workbench;
    await workbench.solve();
    const question = window.modal('Run the project\'s tests without a sandbox?');
    await question.waitFor({ timeout: 120_000 });
    await window.screenshot(path.join(SCREENS, 'no-sandbox-dark.png'));
    await question.getByRole('button', { name: 'Copy Install Command', exact: true }).click();
    await expect.poll(() => window.page.evaluate(() => navigator.clipboard.readText())).toMatch(/install .*bubblewrap/);
    // It was not an answer.
    await question.waitFor();
  });

  it('runs none that were declined, and calls nothing verified', async () => {
    const { window, panel } = workbench;
    await window.answerModal('without a sandbox?', 'Cancel');
    await panel.verdict.getByText('Could not be checked').waitFor();
    await expect.poll(() => panel.status.innerText()).toBe('Could not be checked');
    expect(await panel.frame.locator('body').innerText()).not.toMatch(/\bVerified\b/);
    await panel.button('Copy the install command').waitFor();
    expect((await workbench.runs()).map(({ outcome }) => outcome)).toEqual(['unchecked']);
    await panel.verdict.scrollIntoViewIfNeeded();
    await window.screenshot(path.join(SCREENS, 'no-sandbox-verdict-dark.png'));
  });
});
