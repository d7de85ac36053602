import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');

describe('a change of one\'s own', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    // So that what the terminal shows can be read.
    workbench = await Workbench.start({ hasPool: false, settings: { 'terminal.integrated.gpuAcceleration': 'off' } });
    const git = (...args: string[]): Promise<unknown> => promisify(execFile)('git', ['-C', workbench.project, ...args]);
    await git('init', '-q');
    await git('add', '-A');
    await git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'Begin');
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  it('is judged by the project\'s tests without any worker, in a terminal of its own, and the panel shows the verdict', async () => {
    const { window, panel, project, bug } = workbench;
    await writeFile(path.join(project, bug.path), bug.correctSource);
    await window.runCommand('Conductor: Verify My Changes');
    const terminal = window.page.locator('.terminal-wrapper.active .xterm-rows');
    await terminal.filter({ hasText: /Verified\s+✓ \d+ tests? that failed before/ }).waitFor({ timeout: 120_000 });
    await window.screenshot(path.join(SCREENS, 'verify-changes-dark.png'));
    expect(await terminal.innerText()).toContain('in the sandbox');
    await panel.verdict.getByText('Verified').waitFor({ timeout: 60_000 });
    await panel.button('Verify again').waitFor();
    await window.screenshot(path.join(SCREENS, 'verify-changes-panel-dark.png'));
  });
});
