import type { BackendClient } from '../protocol/client/backend-client.ts';
import type { HeldPlan } from '../protocol/held-plan.ts';
import { RequestError } from '../protocol/request-error.ts';
import { printable, type Terminal } from './terminal.ts';

type ReadLine = NonNullable<Terminal['readLine']>;

/** Asks at the terminal whether the plan that waits shall run, until there is an answer, or the signal aborts because somebody else decided. */
export async function askAboutPlan(
  { runId, plan, client, terminal, readLine, signal }: {
    readonly runId: string; readonly plan: HeldPlan; readonly client: BackendClient; readonly terminal: Pick<Terminal, 'say'>; readonly readLine: ReadLine;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  for (;;) {
    const answer = (await readLine('Run this plan? y: yes, n: no, cancel the run, r: ask for another plan [y/n/r] ', signal)).trim().toLowerCase();
    const request = await requestFor(answer);
    if (!request) continue;
    try {
      await request();
    } catch (error) {
      // Somebody else decided meanwhile, or the run is being taken up again: what follows tells what became of it.
      if (!(error instanceof RequestError) || error.kind === 'disconnected') throw error;
      terminal.say(printable(error.message));
    }
    return;
  }

  async function requestFor(answer: string): Promise<(() => Promise<unknown>) | undefined> {
    switch (answer) {
      case 'y':
      case 'yes':
        return () => client.request('run/approvePlan', { runId, ...plan });
      case 'n':
      case 'no':
        return () => client.request('run/cancel', { runId });
      case 'r':
      case 'replan': {
        const wish = (await readLine('What should be different? (Enter: just another plan) ', signal)).trim();
        return () => client.request('run/replan', { runId, ...plan, ...(wish !== '' && { wish }) });
      }
      default:
        return undefined;
    }
  }
}
