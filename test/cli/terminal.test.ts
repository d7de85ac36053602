import { expect, it } from 'vitest';
import { RunPrinter } from '../../backend/cli/run-printer.ts';
import { jsonText, oneLine, printable } from '../../backend/cli/terminal.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import { runEventSchema, type RunEvent, type StoredEvent } from '../../backend/protocol/run-events.ts';
import { applyEvent } from '../../backend/protocol/fold-run.ts';
import { NO_USAGE } from '../../backend/protocol/token-counts.ts';

/** Moves the cursor, twice over (ESC [ and the one character that means the same), rings, and turns the text round. */
const EVIL = '\u001b[2K\u009b1A\u0007\u202e';
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

it('shows texts without what could command a terminal, and with their tabs and newlines', () => {
  expect(printable(`a\tb\n${EVIL}c`)).toBe('a\tb\n[2K1Ac');
  expect(oneLine(`a\n\n  b${EVIL}`, 3)).toBe('a …');
});

it('writes JSON that says the same and commands no terminal', () => {
  const value = { text: EVIL, list: ['\u009b', 'ä\n'] };
  expect(jsonText(value, 2)).not.toMatch(UNPRINTABLE);
  expect(JSON.parse(jsonText(value, 2))).toEqual(value);
  expect(jsonText({ a: [1] })).toBe('{"a":[1]}');
});

it('tells nothing of a run that could command a terminal, whoever wrote it', () => {
  const said: string[] = [];
  const style = (_format: unknown, text: string): string => text;
  const printer = new RunPrinter({ result: (text) => said.push(text), write: (text) => said.push(text), say: (text) => said.push(text), style, resultStyle: style });
  const worker = { id: 'one', provider: 'openai', model: EVIL } as const;
  const spent = { usage: NO_USAGE, cost: { estimated: false }, durationMs: 1 };
  const failure = { kind: 'server', message: EVIL, retryable: true };
  const plan = { kind: 'plan' } as const;
  const verdict = {
    verified: false, score: 0, outcome: 'failed', reason: EVIL, command: EVIL, sandboxed: true, durationMs: 1,
    tests: [{ id: EVIL, before: 'failed', after: 'failed', message: EVIL }],
  } as const;
  const events: RunEvent[] = [
    { type: 'run.accepted', kind: 'solve', request: { question: EVIL }, pool: [worker], policy: { kind: 'endpoint', model: EVIL, promptVersion: 'x' }, budget: {} },
    { type: 'run.waiting', for: 'secret', message: EVIL },
    { type: 'context.gathered', pieces: [{ path: EVIL, startLine: 1, endLine: 2, reason: EVIL, tokens: 1 }], leftOut: [{ path: EVIL, reason: EVIL }], tokens: 1, text: EVIL },
    { type: 'attempt.failed', round: 0, purpose: plan, attemptId: 'a', failure, retryInMs: 1, ...spent },
    { type: 'plan.rejected', round: 0, attemptId: 'a', text: EVIL, reason: EVIL, message: EVIL, ...spent },
    {
      type: 'plan.proposed', round: 0, attemptId: 'a', text: EVIL, plan: { modelIds: [0], subtasks: [EVIL], accessList: [[]] },
      steps: [{ worker: 0, subtask: EVIL, reads: [], readsPreviousRound: false }], ...spent,
    },
    { type: 'step.reassigned', round: 0, step: 0, from: 0, to: 1, failure },
    { type: 'step.failed', round: 0, step: 0, failure },
    { type: 'step.skipped', round: 0, step: 0, reason: EVIL },
    { type: 'step.completed', round: 0, step: 0, attemptId: 'a', output: EVIL, finishReason: 'stop', ...spent },
    { type: 'answer.ready', round: 0, step: 0, edits: [{ path: EVIL, kind: 'modify', diff: `+${EVIL}` }], refused: [{ path: EVIL, reason: EVIL }] },
    { type: 'verify.started', round: 0, command: EVIL, sandboxed: false },
    { type: 'verify.completed', round: 0, verdict },
    { type: 'run.completed', outcome: 'not-verified', round: 0, message: EVIL },
  ].map((event) => runEventSchema.parse(event));
  const stored = events.map((event, index): StoredEvent => ({ runId: 'r', seq: index + 1, at: index, event }));

  let run = snapshotOf(stored.slice(0, 1));
  printer.begin(run);
  for (const event of stored) printer.onEvent(event, (run = applyEvent(run, event)));
  printer.end(run);
  printer.end({ ...run, state: 'failed', message: EVIL });
  expect(said.length).toBeGreaterThan(20);
  for (const line of said) expect(line).not.toMatch(UNPRINTABLE);
});
