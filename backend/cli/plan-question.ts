import { RequestError } from '../protocol/request-error.ts';
import type { DecideAboutPlan } from './follow-run.ts';
import { printable, type Terminal } from './terminal.ts';

type ReadLine = NonNullable<Terminal['readLine']>;

/** Asks at the terminal about each plan that waits. @returns undefined where there is no terminal */
export function atTerminal(terminal: Pick<Terminal, 'say' | 'readLine'>): DecideAboutPlan | undefined {
  const { readLine } = terminal;
  return readLine && ((asked) => askAboutPlan(asked, terminal, readLine));
}

/** Asks whether the plan that waits shall run, until there is an answer, or the signal aborts because somebody else decided. */
async function askAboutPlan(
  { plan, run: { runId }, client, signal }: Parameters<DecideAboutPlan>[0], terminal: Pick<Terminal, 'say'>, readLine: ReadLine,
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
