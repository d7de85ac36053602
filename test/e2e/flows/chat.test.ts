import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');
/** Brings the model without which VS Code's chat answers nobody, and commands that speak as a person and as an agent do. */
const EXTENSIONS = [path.join(import.meta.dirname, '..', 'fixtures', 'language-models')];

describe('VS Code\'s chat', () => {
  let workbench: Workbench;
  let chat: Locator;

  beforeAll(async () => {
    workbench = await Workbench.start({ width: 1_500, height: 1_100, extensions: EXTENSIONS });
    chat = workbench.window.page.locator('.interactive-session');
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  const say = async (message: string): Promise<void> => {
    await workbench.window.runCommand('Tests: Say in the Chat');
    await workbench.window.answerInput('What is said in the chat', message);
  };
  const answers = (): Locator => chat.locator('.interactive-response');

  // Nobody answers without @conductor here: that is the agent of Copilot, which this VS Code does not have.
  it('has Conductor and each worker in the model picker', async () => {
    const { window, simulator } = workbench;
    await say('');
    const rows = window.page.locator('.action-widget .monaco-list-row');
    const row = (name: string): Locator => rows.filter({ has: window.page.getByText(name, { exact: true }) }).first();
    const isShown = (name: string): Promise<boolean> => row(name).waitFor({ timeout: 3_000 }).then(() => true, () => false);
    // The model that was known first is selected and stands above the others, which are folded: Conductor's or that of the tests.
    const names = ['Conductor', ...simulator.workers().map(({ id }) => id)];
    const areShown = async (): Promise<boolean> => (await Promise.all(names.map(isShown))).every(Boolean);
    // VS Code asks for the models after its start, and a picker that is open does not notice them.
    const opened = async (): Promise<boolean> => {
      await chat.locator('.model-picker-name').click();
      if (await areShown()) return true;
      if (await row('Other Models').isVisible()) await row('Other Models').click();
      if (await areShown()) return true;
      await window.page.keyboard.press('Escape');
      return false;
    };
    await expect.poll(opened, { timeout: 90_000 }).toBe(true);
    await window.screenshot(path.join(SCREENS, 'model-picker-dark.png'));
    const [{ id = '' } = {}] = simulator.workers();
    await row(id).click();
    await chat.locator('.model-picker-name').getByText(id, { exact: true }).waitFor();
  });

  it('has @conductor explain its plan, which waits', async () => {
    const { window, bug } = workbench;
    await say(`@conductor /explain-plan ${bug.question}`);
    await window.quickPickRow('Send the question').click();
    await answers().last().getByText('Plan', { exact: true }).waitFor({ timeout: 120_000 });
    await answers().last().getByText('Expected cost:').waitFor();
    expect((await workbench.runs()).map(({ state }) => state)).toEqual(['waiting']);
    await window.screenshot(path.join(SCREENS, 'chat-plan-dark.png'));
  });

  it('lets that plan run, and tells of its steps, its tests and its change', async () => {
    const { window, bug, project } = workbench;
    const before = await readFile(path.join(project, bug.path), 'utf8');
    await chat.getByText('Let this plan run').click();
    await answers().last().getByText('Verified', { exact: true }).waitFor({ timeout: 180_000 });
    // VS Code folds what happened on the way.
    await answers().last().getByText(/^Completed \d+ steps/).click();
    await answers().last().getByText(/Step 1: .* is done/).waitFor();
    await answers().last().getByRole('button', { name: 'Review and Apply' }).waitFor();
    expect(await readFile(path.join(project, bug.path), 'utf8')).toBe(before);
    expect((await workbench.runs()).map(({ outcome }) => outcome)).toEqual(['verified']);
    await window.screenshot(path.join(SCREENS, 'chat-verified-dark.png'));
  });

  it('opens the review of the change, and applies it', async () => {
    const { window, bug, project } = workbench;
    const before = await readFile(path.join(project, bug.path), 'utf8');
    await answers().last().getByRole('button', { name: 'Review and Apply' }).click();
    await window.quickPickRow('Accept').click();
    await expect.poll(() => readFile(path.join(project, bug.path), 'utf8')).not.toBe(before);
  });

  it('continues from the answer with the next message', async () => {
    const { window } = workbench;
    await say('@conductor Explain this change.');
    await window.quickPickRow('an earlier question, with its answer').waitFor({ timeout: 60_000 });
    await window.quickPickRow('Send the question').click();
    await expect.poll(async () => (await workbench.runs()).map(({ state, thread }) => [state, thread !== undefined]), { timeout: 120_000 })
      .toEqual([['completed', true], ['completed', false]]);
  });

  it('sends nothing where the person dismisses what would be sent', async () => {
    const { window } = workbench;
    const before = (await workbench.runs()).length;
    await say('@conductor /solve Something else entirely');
    await window.quickPickRow('Send the question').waitFor({ timeout: 60_000 });
    await window.page.keyboard.press('Escape');
    await answers().last().getByText('Nothing was sent.').waitFor();
    expect(await workbench.runs()).toHaveLength(before);
  });

  it('has an agent ask the person before it spends money', async () => {
    const { window, bug } = workbench;
    const before = (await workbench.runs()).length;
    const call = JSON.stringify({ name: 'conductor_solve', input: { question: bug.question } });
    await window.runCommand('Tests: Call a Tool');
    await window.answerInput('The call of a tool', call);
    await window.modal('Let Conductor solve this?').getByText('It may cost up to $1.00, the limit of a run.').waitFor({ timeout: 60_000 });
    await window.screenshot(path.join(SCREENS, 'tool-confirmation-dark.png'));
    await window.answerModal('Let Conductor solve this?', 'Cancel');
    await window.notification('The tool fails:').waitFor();
    expect(await workbench.runs()).toHaveLength(before);
  });
});

describe('VS Code\'s chat in Restricted Mode', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({ workspaceTrust: true, extensions: EXTENSIONS });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  it('has tools that say what they may not do, and do nothing', async () => {
    const { window, simulator } = workbench;
    for (const [name, input] of [['conductor_solve', { question: 'Why?' }], ['conductor_verify', {}]] as const) {
      await window.runCommand('Tests: Call a Tool');
      await window.answerInput('The call of a tool', JSON.stringify({ name, input }));
      await window.notification(/The tool fails: .*This workspace is not trusted/).waitFor({ timeout: 60_000 });
    }
    expect(simulator.answering).toBe(0);
  });

  it('offers no model', async () => {
    const { window } = workbench;
    await window.runCommand('Tests: List the Models of Conductor');
    await window.notification('Models of Conductor: none').waitFor({ timeout: 60_000 });
  });

  it('has @conductor say so, with the way out', async () => {
    const { window } = workbench;
    await window.runCommand('Tests: Say in the Chat');
    await window.answerInput('What is said in the chat', '@conductor /verify');
    const answer = window.page.locator('.interactive-response').last();
    await answer.getByText('This workspace is not trusted.').waitFor({ timeout: 60_000 });
    await answer.getByRole('button', { name: 'Manage Trust' }).waitFor();
  });
});
