import { expect, it } from 'vitest';
import type { CommandContext } from '../../backend/cli/command.ts';
import type { Terminal } from '../../backend/cli/terminal.ts';
import { trainCommand } from '../../backend/cli/train-command.ts';
import type { BackendClient } from '../../backend/protocol/client/backend-client.ts';

/* Ctrl+C before a training is followed, which no process can be made to hit. */

const training = { trainingId: 't1', seq: 0, state: 'training' };

/** A backend with a training that is under way until it is paused. Ctrl+C comes while it answers `during`. */
function interruptedDuring(during: string) {
  const controller = new AbortController();
  const asked: string[] = [];
  let tell: (event: unknown) => void = () => {};
  const client: BackendClient = {
    closed: new Promise(() => {}),
    request: async (method: string): Promise<never> => {
      asked.push(method);
      if (method === during) controller.abort();
      if (method === 'training/pause') tell({ trainingId: 't1', seq: 1, at: 0, change: { state: 'paused', message: 'Paused.' } });
      return (method === 'training/check' ? { conductor: 'tiny', workers: [] } : training) as never;
    },
    notify: () => {},
    on: (_method, listener) => {
      tell = listener as typeof tell;
      return () => {};
    },
    close: () => {},
  };
  const terminal: Partial<Terminal> = { say: () => {}, result: () => {} };
  const context: Partial<CommandContext> = {
    terminal: terminal as Terminal, currentFolder: '/', connect: async () => client, interrupted: controller.signal, interruptMeans: () => {},
  };
  return { asked, reason: () => controller.signal.reason as unknown, train: (...args: string[]) => trainCommand(args, context as CommandContext) };
}

it('begins nothing after Ctrl+C', async () => {
  const { asked, reason, train } = interruptedDuring('training/check');
  await expect(train('--yes')).rejects.toSatisfy((error) => error === reason());
  expect(asked).toEqual(['training/check']);
});

it('pauses what had begun by then', async () => {
  const { asked, train } = interruptedDuring('training/resume');
  expect(await train('resume', 't1', '--json')).toBe(3);
  expect(asked).toEqual(['training/resume', 'training/subscribe', 'training/pause']);
});
