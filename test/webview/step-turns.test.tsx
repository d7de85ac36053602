// @vitest-environment jsdom
import { beforeEach, expect, it } from 'vitest';
import { stateWith, verifiedRun } from './fixtures.ts';
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
  for (const part of ['1 · edit src/shapes.js', '2 · ```test', 'edit {"path":"src/shapes.js"}', '-  return width + height;', '+  return width * height;', 'Done: it is changed.']) expect(text).toContain(part);
});
