import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OllamaServer } from '../harness/ollama-server.ts';
import { violationsIn } from '../harness/violations.ts';
import { ARTIFACTS, Workbench } from '../harness/workbench.ts';

const SCREENS = path.join(ARTIFACTS, 'screens');
const THEMES = ['dark', 'light', 'high-contrast'] as const;
/** What VS Code calls them in its webviews. */
const BODY_CLASSES = { 'dark': 'vscode-dark', 'light': 'vscode-light', 'high-contrast': 'vscode-high-contrast' } as const;

describe('the first five minutes', () => {
  let ollama: OllamaServer;
  let workbench: Workbench;

  beforeAll(async () => {
    ollama = await OllamaServer.start();
    workbench = await Workbench.start({
      hasPool: false, latency: 0, width: 1_600, height: 1_000, environment: { OLLAMA_HOST: `127.0.0.1:${ollama.port}` },
    });
    ollama.behind = workbench.simulator.url;
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(async () => {
    await workbench?.stop();
    await ollama?.close();
  });

  // The last that was opened: the walkthrough's picture is such a page, too.
  const health = () => workbench.window.webview(-1);
  const row = (title: string) => health().getByRole('listitem').filter({ has: health().getByRole('heading', { name: title }) });

  it('are led through by five steps with pictures', async () => {
    const { window } = workbench;
    await window.runCommand('Welcome: Open Walkthrough...');
    await window.quickPickRow('Get Started with Conductor').click();
    const steps = window.page.locator('.getting-started-step');
    await expect.poll(() => steps.count()).toBe(5);
    await window.page.getByRole('button', { name: 'Show Demonstration' }).waitFor();
    await window.webview().locator('svg').waitFor();
    await shots('walkthrough-1');
    for (const [index, button] of ['Add Worker', 'Choose Test Command', 'Ask a Question', 'Show Health'].entries()) {
      const picture = await window.webview().locator('svg').innerHTML();
      await steps.nth(index + 1).click();
      await expect.poll(() => window.webview().locator('svg').innerHTML()).not.toBe(picture);
      await window.page.getByRole('button', { name: button, exact: true }).waitFor();
      await window.screenshot(path.join(SCREENS, `walkthrough-${index + 2}-dark.png`));
    }
  });

  it('tell on one page what works and what is missing, for every eye and ear', async () => {
    const { window } = workbench;
    await window.page.getByRole('button', { name: 'Show Health', exact: true }).click();
    await row('Workers').getByText('There is no worker yet').waitFor();
    await row('Conductor').getByText('conductor-mini plans').waitFor();
    await row('Tests').getByText('Answers are checked with the detected command').waitFor();
    expect(await health().getByRole('status').innerText()).toMatch(/needs? you/);
    for (const theme of THEMES) {
      await window.useTheme(theme);
      await health().locator(`body.${BODY_CLASSES[theme]}`).waitFor();
      expect(await violationsIn(health()), theme).toEqual([]);
      await window.screenshot(path.join(SCREENS, `health-${theme}.png`));
    }
    await window.useTheme('dark');
  });

  it('find the models of this machine, suggest a first pool, and try it before it is saved', async () => {
    const { window, home } = workbench;
    await row('Workers').getByRole('button', { name: 'Add Worker' }).click();
    await window.quickPickRow('Models that were found').getByText('Ollama: 4').waitFor();
    await window.screenshot(path.join(SCREENS, 'add-worker-dark.png'));
    await window.quickPickRow('Models that were found').click();
    await window.quickPickRow('qwen3:30b').getByText('The strongest model found').waitFor();
    const ticked = window.quickInput.getByRole('checkbox', { checked: true });
    await expect.poll(() => ticked.count()).toBeGreaterThanOrEqual(3);
    await window.screenshot(path.join(SCREENS, 'first-pool-dark.png'));
    await window.acceptPick();
    await window.notification('Added 3 workers: qwen3-30b, qwen2.5-coder-7b, llama3.2-3b. qwen3-30b plans who does what: the largest of your workers').waitFor();
    const file = JSON.parse(await readFile(path.join(home, 'workers.json'), 'utf8')) as { conductor?: string; workers: { id: string; baseUrl: string }[] };
    expect(file.conductor).toBeUndefined();
    expect(file.workers).toMatchObject(['qwen3-30b', 'qwen2.5-coder-7b', 'llama3.2-3b'].map((id) => ({ id, baseUrl: `http://127.0.0.1:${ollama.port}/v1` })));
    await row('Worker "qwen3-30b"').getByText('Its last call was answered.').waitFor();
  });

  it('mend what can be mended from the page', async () => {
    const { window } = workbench;
    const { pid } = await workbench.backend();
    await row('Worker "llama3.2-3b"').getByRole('button', { name: 'Try "llama3.2-3b" Now' }).click();
    await row('Worker "llama3.2-3b"').getByText(/works \(.+ s\)/).waitFor();
    await row('Backend').getByRole('button', { name: 'Restart the Backend' }).click();
    await expect.poll(() => row('Backend').innerText(), { timeout: 30_000 }).not.toContain(`process ${pid}`);
    await row('Worker "llama3.2-3b"').getByText('Its server answers').waitFor();
    await expect.poll(async () => (await workbench.backend()).pid, { timeout: 30_000 }).not.toBe(pid);
    expect(await violationsIn(health())).toEqual([]);
    await window.screenshot(path.join(SCREENS, 'health-workers-dark.png'));
  });

  it('end with a question that the found models answer and the largest of them plans', async () => {
    const { panel } = workbench;
    await workbench.window.runCommand('View: Close All Editors');
    await workbench.solve();
    await panel.answer.waitFor({ timeout: 120_000 });
    await expect.poll(() => workbench.runs(), { timeout: 120_000 }).toMatchObject([{ state: 'completed', simulated: false }]);
    const [run] = await workbench.runs();
    const { run: whole } = await workbench.asOther((client) => client.request('run/get', { runId: run?.runId ?? '' }));
    expect(whole.policy).toMatchObject({ model: 'qwen3:30b', choice: { why: 'free', estimate: { usd: 0 } } });
    await panel.frame.getByText('Planned by qwen3-30b').waitFor();
    expect(whole.pool.map(({ id }) => id)).toEqual(['qwen3-30b', 'qwen2.5-coder-7b', 'llama3.2-3b']);
  });

  it('are ticked in the walkthrough, however each thing was done and whenever it is opened', async () => {
    const { window } = workbench;
    await window.runCommand('Welcome: Open Walkthrough...');
    await window.quickPickRow('Get Started with Conductor').click();
    const steps = window.page.locator('.getting-started-step');
    for (const title of ['See it work first', 'Add your models', 'Ask a question', 'See what works and what is missing']) {
      await steps.filter({ hasText: title }).getByRole('checkbox', { checked: true }).waitFor();
    }
    await window.screenshot(path.join(SCREENS, 'walkthrough-done-dark.png'));
    await window.runCommand('View: Close All Editors');
  });

  it('say when a server that was there is gone', async () => {
    await ollama.close();
    await workbench.window.runCommand('Conductor: Show Health');
    await health().getByText(`Nothing answers at http://127.0.0.1:${ollama.port}: start the server.`).first().waitFor();
  });

  async function shots(name: string): Promise<void> {
    for (const theme of THEMES) {
      await workbench.window.useTheme(theme);
      await workbench.window.screenshot(path.join(SCREENS, `${name}-${theme}.png`));
    }
    await workbench.window.useTheme('dark');
  }
});

describe('a model that VS Code has of another extension', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({
      hasPool: false, height: 1_000, extensions: [path.join(import.meta.dirname, '..', 'fixtures', 'language-models')],
    });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  it('is offered once it is asked for, and its tokens and cost are said to be estimates', async () => {
    const { window } = workbench;
    await window.runCommand('Conductor: Add Worker');
    await window.quickPickRow('Models that were found').getByText(/VS Code: 1/).waitFor();
    await window.quickPickRow('Models that were found').click();
    await window.quickPickRow('Parrot Large').getByText('tokens and cost are estimates').waitFor();
    await window.screenshot(path.join(SCREENS, 'language-models-dark.png'));
    await window.acceptPick();
    await window.notification('Added the worker "parrot-large"').waitFor();
    await window.runCommand('Conductor: Show Health');
    await window.webview(-1).getByText('VS Code does not report usage, so tokens and cost are estimates.').waitFor();
  });

  it('is called like every other worker', async () => {
    const tried = await workbench.asOther(async (client) => {
      const [status] = (await client.request('pool/get', {})).workers;
      if (!status) throw new Error('There is no worker.');
      expect(status).toMatchObject({ ready: true, priced: false, worker: { provider: 'vscode', model: 'tests/parrot-large' } });
      return client.request('worker/try', { worker: status.worker });
    });
    expect(tried).toMatchObject({ ok: true, text: 'ready', usage: { estimated: true }, cost: { estimated: true } });
    expect(tried.usage.output).toBeGreaterThan(0);
  });
});

describe('with nothing configured', () => {
  let workbench: Workbench;

  beforeAll(async () => {
    workbench = await Workbench.start({ hasPool: false, height: 1_000 });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  it('a question is kept until somebody can answer it', async () => {
    const { window, panel } = workbench;
    await window.runCommand('Conductor: Solve');
    await window.answerInput('What do you want to know', 'Why is the sky blue?');
    await window.notification('There is no worker yet that can answer.').getByRole('button', { name: 'Show Demonstration' }).waitFor();
    await panel.frame.getByRole('heading', { name: 'Add your first worker' }).waitFor();
    expect(await workbench.runs()).toEqual([]);
    await window.page.keyboard.press('Escape');
  });

  it('a demonstration says that it is simulated, is planned by conductor-mini and checked by real tests', async () => {
    const { window, panel } = workbench;
    await window.runCommand('Conductor: Show Panel');
    await window.resizeSideBar(480);
    await panel.button('See a demonstration first').waitFor();
    await window.screenshot(path.join(SCREENS, 'nothing-configured-dark.png'));
    await panel.button('See a demonstration first').click();
    await panel.frame.getByText(/Simulated: .*sim-atlas.* from a simulator, not from a real model/).waitFor();
    await expect.poll(() => panel.status.innerText(), { timeout: 200_000 }).toMatch(/^(Verified|Not verified)/);
    const [run] = await workbench.runs();
    expect(run).toMatchObject({ state: 'completed', simulated: true, usd: 0 });
    const { run: whole } = await workbench.asOther((client) => client.request('run/get', { runId: run?.runId ?? '' }));
    expect(whole.policy.model).toBe('conductor-mini');
    await window.screenshot(path.join(SCREENS, 'demonstration-dark.png'));
  });

  it('the first worker ends it', async () => {
    const [worker] = workbench.simulator.workers();
    await workbench.asOther((client) => client.request('worker/save', { worker: { ...worker, id: 'mine', simulated: false } as never }));
    await workbench.panel.button('Runs').click();
    await workbench.window.runCommand('Conductor: Show Health');
    await expect.poll(() => workbench.panel.ask.inputValue()).toBe('Why is the sky blue?');
    await expect(workbench.asOther((client) => client.request('run/demonstrate', {}))).rejects.toThrow('nothing is simulated any more');
    // The palette offers it no more; the walkthrough does.
    await workbench.window.runCommand('Welcome: Open Walkthrough...');
    await workbench.window.quickPickRow('Get Started with Conductor').click();
    await workbench.window.page.locator('.getting-started-step').first().click();
    await workbench.window.page.getByRole('button', { name: 'Show Demonstration', exact: true }).click();
    await workbench.window.notification('You have a worker now, so nothing is simulated any more.').getByRole('button', { name: 'Ask a Question' }).waitFor();
  });
});
