import { describe, expect, it } from 'vitest';
import type { StateMessage } from '../../backend/protocol/panel-messages.ts';
import { applyText } from '../../backend/protocol/fold-run.ts';
import { StateSender } from '../../extension/panel/state-sender.ts';
import { StateReceiver } from '../../webview/state-receiver.ts';
import { stateWith, streamingRun, twoRoundsRun } from './fixtures.ts';

/** What VS Code makes of a message on its way. */
const crossed = (message: StateMessage): StateMessage => JSON.parse(JSON.stringify(message)) as StateMessage;
const bytes = (message: StateMessage): number => JSON.stringify(message).length;

const longRun = twoRoundsRun((round, step) => `${round}.${step} ${'An output of many words. '.repeat(800)}`);

describe('states on their way to a page', () => {
  it('are small where the long texts have not changed, and whole for the page', () => {
    const [sender, receiver] = [new StateSender(), new StateReceiver()];
    const first = sender.message(stateWith({ run: longRun }));
    const second = sender.message(stateWith({ run: longRun, problem: 'The question is empty.' }));
    expect(bytes(first)).toBeGreaterThan(200_000);
    expect(bytes(second)).toBeLessThan(bytes(first) / 10);
    expect(receiver.take(crossed(first)) && receiver.take(crossed(second))).toBe(true);
    expect(receiver.state).toEqual(stateWith({ run: longRun, problem: 'The question is empty.' }));
  });

  it('carry only what was added to a text that streams', () => {
    const [sender, receiver] = [new StateSender(), new StateReceiver()];
    let run = streamingRun();
    const grow = (text: string): StateMessage => {
      const offset = run.rounds[0]?.steps[0]?.attempt?.text.length ?? 0;
      run = applyText(run, { runId: run.runId, round: 0, purpose: { kind: 'step', step: 0 }, attemptId: 'attempt-2', offset, text });
      return sender.message(stateWith({ run }));
    };
    receiver.take(crossed(grow('a'.repeat(20_000))));
    const next = grow(' and on');
    expect(bytes(next)).toBeLessThan(15_000);
    receiver.take(crossed(next));
    const view = receiver.state?.view;
    expect(view?.kind === 'run' && view.run.rounds[0]?.steps[0]?.attempt?.text).toMatch(/a and on$/);
  });

  it('are not taken after one that never came, and again from a whole one on', () => {
    const [sender, receiver] = [new StateSender(), new StateReceiver()];
    receiver.take(crossed(sender.message(stateWith({ run: longRun }))));
    sender.message(stateWith({ run: longRun }));
    expect(receiver.take(crossed(sender.message(stateWith({ run: longRun, trusted: false }))))).toBe(false);
    expect(receiver.state?.trusted).toBe(true);
    sender.startAnew();
    expect(receiver.take(crossed(sender.message(stateWith({ run: longRun, trusted: false }))))).toBe(true);
    expect(receiver.state).toEqual(stateWith({ run: longRun, trusted: false }));
  });

  it('are whole for a page that was made anew', () => {
    const sender = new StateSender();
    sender.message(stateWith({ run: longRun }));
    sender.startAnew();
    const receiver = new StateReceiver();
    expect(receiver.take(crossed(sender.message(stateWith({ run: longRun }))))).toBe(true);
    expect(receiver.state).toEqual(stateWith({ run: longRun }));
  });
});
