import { expect, it } from 'vitest';
import type { Terminal } from '../../backend/cli/terminal.ts';
import { TrainingPrinter } from '../../backend/cli/training-printer.ts';
import { completedTraining, flatCompletedTraining, flatTraining, runningTraining, unknownTraining } from '../webview/training-fixtures.ts';

function printer() {
  const said: string[] = [];
  const style: Terminal['style'] = (_format, text) => text;
  const terminal: Terminal = { result: () => {}, write: () => {}, say: (text) => void said.push(text), style, resultStyle: style, status: undefined };
  return { said, training: new TrainingPrinter(terminal) };
}

it('marks each step that taught nothing, and explains the first one of those in a row', () => {
  const { said, training } = printer();
  const { metrics, ...rest } = flatTraining();
  training.take({ ...rest, metrics: [...metrics, metrics.at(-1)!] });
  expect(said.filter((line) => line.startsWith('step')).map((line) => line.endsWith('taught nothing'))).toEqual([false, false, true, false, true, true]);
  expect(said.filter((line) => line.includes('Every plan was verified'))).toEqual([
    expect.stringContaining('1 of 3 steps taught nothing'), expect.stringContaining('2 of 5 steps taught nothing'),
  ]);
});

it('offers what was learned, and nothing where nothing was', () => {
  const offered = (ended: Parameters<TrainingPrinter['end']>[0]): string => {
    const { said, training } = printer();
    training.end(ended);
    return said.join('\n');
  };
  expect(offered(completedTraining())).toContain('conductor train adopt');
  expect(offered(unknownTraining())).toContain(`At this rate, about 60 more pairs, for $1.21, would tell.
Whether it is better on held-out tasks is not known after 48 pairs of tries for $0.97, so it is not offered.`);
  expect(offered(unknownTraining())).toContain('conductor train resume training-1');
  expect(offered(unknownTraining())).not.toContain('conductor train adopt');
  expect(offered(flatCompletedTraining())).toMatch(/^Nothing was learned, so there is nothing to adopt\. 50 of 50 steps/);
  expect(offered(flatCompletedTraining())).not.toContain('conductor train adopt');
});

it('counts no step beyond the last', () => {
  const { said, training } = printer();
  const { config } = runningTraining();
  training.take({ ...runningTraining(), step: config.steps });
  expect(said.join('\n')).toContain(`step ${config.steps} of ${config.steps}`);
});

it('says what held-out tasks tell on the way, once for each look', () => {
  const { said, training } = printer();
  const looks = unknownTraining().looks!;
  const message = 'Training. On held-out tasks after step 5: 8 pairs of tries for $0.12, verified +12 points (−50 to +70) more often than before.';
  training.take({ ...runningTraining(), message, looks });
  training.take({ ...runningTraining(), message, looks });
  expect(said.filter((line) => line.includes('held-out'))).toEqual([`  ${message.replace('Training. ', '')}`]);
});

it('says at its beginning, once, that the workers of a training are simulated', () => {
  const labels = (simulated: boolean): readonly string[] => {
    const { said, training } = printer();
    training.take({ ...completedTraining(), simulated });
    training.take({ ...completedTraining(), simulated });
    return said.filter((line) => line.startsWith('SIMULATED'));
  };
  expect(labels(true)).toEqual([expect.stringContaining('show nothing about real models')]);
  expect(labels(false)).toEqual([]);
});

it('leaves out the entropy of a step where nobody measured it', () => {
  const { said, training } = printer();
  training.take({ ...runningTraining(), metrics: [{ reward: 0.5, entropy: 0.25, grad_norm: 1 }, { reward: 0.5, grad_norm: 1 }] });
  expect(said.filter((line) => line.startsWith('step')).map((line) => /plans that parse.*gradient \S+/.exec(line)?.[0])).toEqual([
    'plans that parse 0.0 %  entropy 0.25  gradient 1.00', 'plans that parse 0.0 %  gradient 1.00',
  ]);
});
