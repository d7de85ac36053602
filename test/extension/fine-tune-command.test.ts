import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { FineTuneCommand, type FineTuneOptions } from '../../extension/training/fine-tune-command.ts';

/** What VS Code shows: what was said, and the button that is clicked on, if any. */
const shown = vi.hoisted(() => ({ said: [] as string[], opened: [] as string[], clicks: [] as string[], folder: '' }));

vi.mock('vscode', () => {
  const say = (text: string, ...others: unknown[]): Promise<string | undefined> => {
    shown.said.push(text);
    return Promise.resolve(others.includes(shown.clicks[0]) ? shown.clicks.shift() : undefined);
  };
  return {
    env: { language: 'en' },
    l10n: { t: (text: string, ...values: string[]) => text.replace(/\{(\d)\}/g, (_, index: string) => values[Number(index)] ?? '') },
    Uri: { file: (fsPath: string) => ({ scheme: 'file', fsPath }) },
    window: {
      showErrorMessage: say,
      showInformationMessage: say,
      showInputBox: () => Promise.resolve('2.5'),
      showTextDocument: ({ fsPath }: { fsPath: string }) => Promise.resolve(shown.opened.push(fsPath)),
    },
    workspace: { isTrusted: true, getConfiguration: () => ({ get: () => undefined }), get workspaceFolders() { return [{ uri: { scheme: 'file', fsPath: shown.folder } }]; } },
  };
});

const file = (): string => path.join(shown.folder, 'conductor.train.json');

beforeAll(async () => {
  shown.folder = await mkdtemp(path.join(tmpdir(), 'conductor-fine-tune-'));
});
beforeEach(async () => {
  Object.assign(shown, { said: [], opened: [], clicks: [] });
  await rm(file(), { force: true });
});
afterAll(() => rm(shown.folder, { recursive: true, force: true }));

/** Runs the command with a Conductor and a worker there are. @returns what the backend was asked for */
async function fineTune(...clicks: string[]): Promise<string[]> {
  shown.clicks = clicks;
  const asked: string[] = [];
  const options = {
    connection: {
      request: (method: string) => {
        asked.push(method);
        return Promise.resolve({ conductor: 'tiny', workers: [{ id: 'one', priced: true, simulated: false }], trainingId: 't1', planner: { worker: { id: 'sonnet' } } });
      },
    },
    trainings: { refresh: () => Promise.resolve([]) },
    trainingCommands: { open: () => Promise.resolve() },
    chooseModel: () => Promise.resolve(undefined),
  } as unknown as FineTuneOptions;
  await new FineTuneCommand(options).run();
  return asked;
}

it('settings that cannot be used are opened from what says so, and nothing begins', async () => {
  await writeFile(file(), '{"steps": 0}');
  expect(await fineTune('Open File')).toEqual([]);
  expect(shown.said).toEqual([expect.stringMatching(/^conductor\.train\.json: steps: /)]);
  expect(shown.opened).toEqual([file()]);
});

it('settings are written out for who wants to edit them, with the budget that was chosen, and nothing begins', async () => {
  expect(await fineTune('Change Budget…', 'Edit Settings…')).toEqual(['training/check', 'pool/get']);
  expect(JSON.parse(await readFile(file(), 'utf8'))).toMatchObject({ steps: 50, loss: { clip: { low: 0.2 } }, budget: { usd: 2.5 } });
  expect(shown.opened).toEqual([file()]);
  expect(shown.said.at(-1)).toBe('Save the settings when you are done, and run "Conductor: Fine-tune on Project Tests" again.');
});

it('settings that there are already are opened as they are', async () => {
  await writeFile(file(), '{"steps": 3}');
  await fineTune('Edit Settings…');
  expect(await readFile(file(), 'utf8')).toBe('{"steps": 3}');
  expect(shown.opened).toEqual([file()]);
});

it('a training begins with what was agreed, and opens no settings', async () => {
  expect(await fineTune('Begin')).toEqual(['training/check', 'pool/get', 'training/start']);
  expect(shown.opened).toEqual([]);
});
