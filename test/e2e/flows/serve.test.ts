import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Workbench } from '../harness/workbench.ts';

describe('the endpoint for other programs', () => {
  let workbench: Workbench;
  let key = '';

  beforeAll(async () => {
    workbench = await Workbench.start({ workspaceTrust: true, settings: { 'conductor.serve.port': 0 } });
  });
  beforeEach(({ onTestFailed, task }) => onTestFailed(() => workbench.keep(task.name)));
  afterAll(() => workbench?.stop());

  const item = () => workbench.window.page.locator('.statusbar-item').filter({ hasText: /127\.0\.0\.1:\d+/ });
  const clipboard = (): Promise<string> => workbench.window.page.evaluate(() => navigator.clipboard.readText());
  const models = async (address: string): Promise<Response> => await fetch(`${address}/models`, { headers: { authorization: `Bearer ${key}` } });
  let address = '';

  it('is not there in Restricted Mode, which says so', async () => {
    const { window } = workbench;
    await window.runCommand('Conductor: Serve Other Programs');
    await window.notification('no program is served from its window').getByRole('button', { name: 'Manage Trust' }).waitFor();
    await expect.poll(() => item().count()).toBe(0);
    await window.trustWorkspace();
  });

  it('is turned on by its command, which tells the address', async () => {
    const { window } = workbench;
    await window.runCommand('Conductor: Serve Other Programs');
    await window.notification('Programs of this computer reach Conductor at').getByRole('button', { name: 'Copy Address' }).click();
    await expect.poll(clipboard).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    address = await clipboard();
    expect((await models(address)).status).toBe(401);
  });

  it('makes a key for a program, to be copied once', async () => {
    const { window } = workbench;
    await window.runCommand('Conductor: Add Key for a Program');
    await window.answerInput('The name of the program', 'editor');
    await window.answerInput('What it may cost in all', '5');
    await window.answerModal('The key for "editor" is made', 'Copy Key');
    await expect.poll(clipboard).toMatch(/^cond-/);
    key = await clipboard();
    const { data } = await (await models(address)).json() as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toContain('conductor');
  });

  it('answers a program by the workers of this window', async () => {
    const asked = { model: 'conductor', messages: [{ role: 'user', content: 'Explain what a test is.' }] };
    const answer = await fetch(`${address}/chat/completions`, { method: 'POST', headers: { 'authorization': `Bearer ${key}`, 'content-type': 'application/json' }, body: JSON.stringify(asked) });
    expect(await answer.json()).toMatchObject({ choices: [{ message: { role: 'assistant', content: expect.stringMatching(/\S/) } }] });
  });

  it('is turned off where it is shown, and reached by nobody then', async () => {
    const { window } = workbench;
    await item().click();
    await window.quickPickRow('Turn the endpoint off').click();
    await item().waitFor({ state: 'detached' });
    await expect(models(address)).rejects.toThrow('fetch failed');
  });
});
