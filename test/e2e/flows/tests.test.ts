import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');

/** The picture of a test that passed. What a screen reader is told of a row that VS Code restored comes later. */
const PASSED = '.codicon-testing-passed-icon';

describe('the tests that judge', () => {
  let workbench: Workbench;

  const settings = async (): Promise<unknown> => {
    const file = path.join(workbench.project, '.vscode', 'settings.json');
    return existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : {};
  };

  beforeAll(async () => {
    workbench = await Workbench.start({ latency: 0, width: 1_440, height: 1_000 });
    const api = path.join(workbench.project, 'api');
    await mkdir(api);
    await writeFile(path.join(api, 'pyproject.toml'), '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n');
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  it('are offered with their runner and folder, as the project\'s files show them', async () => {
    const { window } = workbench;
    await window.runCommand('Conductor: Choose Test Command');
    await window.quickPickRow(/Found from the project’s files.*node --test.*in use/).waitFor();
    await window.quickPickRow(/node --test.*node-test/).waitFor();
    const found = window.quickPickRow(/pytest in api/);
    await found.waitFor();
    await window.screenshot(path.join(SCREENS, 'choose-tests-dark.png'));
    await found.click();
    await expect.poll(settings).toMatchObject({ 'conductor.testCommand': expect.stringMatching(/^cd api && .*pytest$/) });
  });

  it('may be those of any command whose results can be read', async () => {
    const { window } = workbench;
    await window.runCommand('Conductor: Choose Test Command');
    await window.quickPickRow(/pytest in api.*in use/).waitFor();
    await window.quickPickRow('Another command…').click();
    await window.answerInput('Command that runs the tests', 'make check');
    await window.quickPickRow('From JUnit files that it writes').click();
    await window.answerInput('The JUnit files that the command writes', 'reports/*.xml');
    await expect.poll(settings).toEqual({ 'conductor.testCommand': 'make check', 'conductor.testReports': 'reports/*.xml' });
  });

  it('are named before a question is sent, and can be changed there', async () => {
    const { window, bug } = workbench;
    await window.runCommand('Conductor: Solve');
    await window.answerInput('What do you want to know', bug.question);
    await window.quickPickRow(/Checked by make check.*JUnit files/).click();
    await window.quickPickRow('None').click();
    await window.quickPickRow('Not checked').waitFor();
    await expect.poll(settings).toEqual({ 'conductor.testCommand': null });
    await window.quickPickRow('Not checked').click();
    await window.quickPickRow('Found from the project’s files').click();
    await window.quickPickRow(/Checked by node --test.*node-test/).waitFor();
    await window.screenshot(path.join(SCREENS, 'context-tests-dark.png'));
    await expect.poll(settings).toEqual({});
    await window.quickPickRow('Send the question').click();
    await workbench.panel.question.waitFor();
  });

  it('have their results in the Test Explorer, also when the run ends while the panel is closed', async () => {
    const { window, bug } = workbench;
    await window.runCommand('Testing: Focus on Test Explorer View');
    const file = window.testItem(bug.testPath);
    await file.filter({ hasText: /changed/ }).waitFor({ timeout: 120_000 });
    await window.resizeSideBar(480);
    await file.click();
    await window.page.keyboard.press('ArrowRight');
    const mended = window.testItem('failed before');
    await mended.waitFor();
    await mended.locator(PASSED).waitFor();
    await window.screenshot(path.join(SCREENS, 'test-explorer-dark.png'));
    await window.runCommand('Test Results: Focus on Test Results View');
    await window.page.locator('.test-output-peek-tree').getByText(bug.question.slice(0, 30)).waitFor();
    await window.screenshot(path.join(SCREENS, 'test-results-dark.png'));
  });

  it('lead to their files', async () => {
    const { window, bug } = workbench;
    await window.testItem('failed before').click({ button: 'right' });
    await window.chooseMenuItem('Go to Test');
    await window.tab(path.basename(bug.testPath)).waitFor();
  });

  it('are there again, with their results, after a reload', async () => {
    const { window, bug } = workbench;
    await window.reload();
    await window.runCommand('Conductor: Show Panel');
    await workbench.panel.verdict.getByText('Verified').waitFor({ timeout: 60_000 });
    await window.runCommand('Testing: Focus on Test Explorer View');
    await window.testItem(bug.testPath).locator(PASSED).waitFor();
    await window.useTheme('light');
    await window.screenshot(path.join(SCREENS, 'test-explorer-light.png'));
  });
});
