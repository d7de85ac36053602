// @vitest-environment jsdom
import { act } from 'preact/test-utils';
import { beforeEach, expect, it } from 'vitest';
import { testsInWords } from '../../backend/hands/tests-in-words.ts';
import { handsRun, stateWith, verifiedRun } from './fixtures.ts';
import { renderPanel, stubLayout } from './render-panel.tsx';

beforeEach(() => stubLayout());

it('shows what a worker with hands did, turn by turn: its words, its change as a diff, and its result', () => {
  const run = verifiedRun();
  const turns = [
    {
      reply: 'I mend it.', calls: [{ id: '1', name: 'edit', arguments: '{"path":"src/shapes.js"}' }], observation: 'Result of edit src/shapes.js:\nDone: it is changed.',
      changes: [{ path: 'src/shapes.js', line: 2, removed: '  return width + height;\n', inserted: '  return width * height;\n' }],
    },
    { reply: '```test\n```' },
  ];
  const rounds = run.rounds.map((round) => ({ ...round, steps: round.steps.map((step, index) => (index === 0 ? { ...step, turns } : step)) }));
  const panel = renderPanel(stateWith({ run: { ...run, rounds } }));
  panel.openAll();
  const text = panel.root.textContent ?? '';
  for (const part of ['1 · edit src/shapes.js', '2 · ```test', '-  return width + height;', '+  return width * height;', 'Done: it is changed.']) expect(text).toContain(part);
  // The diff says it.
  expect(text).not.toContain('edit {"path":"src/shapes.js"}');
});

it('says beside each turn what came of it, as the worker was told', () => {
  const red = testsInWords({ results: [{ id: 'a', kind: 'test', status: 'passed' }, { id: 'b', kind: 'test', status: 'failed' }], exitCode: 1, said: '' });
  const green = testsInWords({ results: [{ id: 'a', kind: 'test', status: 'passed' }, { id: 'b', kind: 'test', status: 'passed' }], exitCode: 0, said: '' });
  const turns = [red, green].map((words) => ({ reply: '', calls: [{ id: '1', name: 'test', arguments: '{}' }], observation: `Result of test:\n${words}` }));
  const run = verifiedRun();
  const rounds = run.rounds.map((round) => ({ ...round, steps: round.steps.map((step, index) => (index === 0 ? { ...step, turns } : step)) }));
  const panel = renderPanel(stateWith({ run: { ...run, rounds } }));
  panel.openAll();
  expect(panel.root.textContent).toContain('1 · test1 passed, 1 failed');
  expect(panel.root.textContent).toContain('2 · test2 passed');
});

it('stops a step that is at work, tells it something with Enter, and shows what it has not read yet', () => {
  const panel = renderPanel(stateWith({ run: handsRun() }));
  expect(panel.text()).toContain('It reads this at its next turn.');
  panel.click('Tell it something: step 3 reads it at its next turn');
  const field = panel.root.querySelector('vscode-text-area') as HTMLElement & { value: string };
  field.value = '  Keep it short. ';
  void act(() => { field.dispatchEvent(new Event('input', { bubbles: true })); });
  void act(() => { field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', shiftKey: true, bubbles: true, cancelable: true })); });
  expect(panel.posted).toEqual([]);
  void act(() => { field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true })); });
  expect(panel.root.querySelector('vscode-text-area')).toBeNull();
  panel.click('Stop step 3 and go on with what it has');
  expect(panel.posted).toEqual([
    { type: 'tellStep', runId: 'run-1', round: 0, step: 2, text: 'Keep it short.' }, { type: 'stopStep', runId: 'run-1', round: 0, step: 2 },
  ]);
  panel.show(stateWith({ run: handsRun({ isStopping: true }) }));
  expect(panel.text()).toContain('Stopping…');
  expect(panel.root.querySelectorAll('.steering')).toHaveLength(0);
});

it('marks a step that was stopped, and opens the change of one', () => {
  const panel = renderPanel(stateWith({ run: handsRun() }));
  expect(panel.text()).toContain('You stopped it. It handed on what it had.');
  panel.click('Show the details of step 1');
  panel.click('Open its change: the copy of step 1 against the workspace');
  expect(panel.posted).toEqual([{ type: 'showStepChange', runId: 'run-1', round: 0, step: 0 }]);
});
