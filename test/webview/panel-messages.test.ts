import { describe, expect, it } from 'vitest';
import { pageMessageSchema } from '../../backend/protocol/panel-messages.ts';

describe('pageMessageSchema', () => {
  it.each([
    [{ type: 'ready' }],
    [{ type: 'solve', question: 'Why?' }],
    [{ type: 'openFile', path: 'src/a.ts', line: 3 }],
    [{ type: 'newQuestion' }],
    [{ type: 'openInEditor' }],
    [{ type: 'stepPrompt', ask: 1, runId: 'r1', round: 0, step: 4 }],
    [{ type: 'findRuns', ask: 2, search: '' }],
    [{ type: 'training', action: 'pause', trainingId: 't1' }],
  ])('takes %j', (message) => {
    expect(pageMessageSchema.safeParse(message).success).toBe(true);
  });

  it.each([
    ['an unknown command', { type: 'run', command: 'rm' }],
    ['a field that does not belong', { type: 'ready', extra: 1 }],
    ['an action that trainings do not know', { type: 'training', action: 'delete', trainingId: 't1' }],
    ['no training', { type: 'training', action: 'open', trainingId: '' }],
    ['no run', { type: 'cancel', runId: '' }],
    ['a question that nobody could reply to', { type: 'findRuns', search: 'merge' }],
    ['a step before the first', { type: 'stepPrompt', ask: 1, runId: 'r1', round: 0, step: -1 }],
    ['a search without end', { type: 'findRuns', ask: 1, search: 'x'.repeat(201) }],
    ['a question without end', { type: 'solve', question: 'x'.repeat(32_001) }],
    ['a line before the first', { type: 'openFile', path: 'a', line: 0 }],
    ['something else altogether', 'ready'],
  ])('refuses %s', (_what, message) => {
    expect(pageMessageSchema.safeParse(message).success).toBe(false);
  });
});
