import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyText } from '../../backend/protocol/fold-run.ts';
import { share } from '../../webview/share.ts';
import { streamingRun } from './fixtures.ts';

describe('share', () => {
  it('gives back the old object when nothing changed', () => {
    const run = streamingRun();
    expect(share(run, structuredClone(run))).toBe(run);
  });

  it('keeps the identity of every step but the one that streams', () => {
    const before = streamingRun();
    const after = share(before, structuredClone(applyText(before, {
      runId: before.runId, round: 0, purpose: { kind: 'step', step: 0 }, attemptId: 'attempt-2',
      offset: before.rounds[0]?.steps[0]?.attempt?.text.length ?? 0, text: ' moves on',
    })));
    const [old, next] = [before.rounds[0], after.rounds[0]];
    expect(next).not.toBe(old);
    expect(next?.steps[0]).not.toBe(old?.steps[0]);
    expect(next?.steps[0]?.attempt?.text).toMatch(/ moves on$/);
    expect(next?.steps[1]).toBe(old?.steps[1]);
    expect(next?.plan).toBe(old?.plan);
    expect(after.context).toBe(before.context);
  });

  it('always equals the new value, whatever the old one was', () => {
    fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), (previous, next) => {
      expect(share(previous, next)).toStrictEqual(next);
    }));
  });

  it('tells an absent key from one that is undefined', () => {
    expect(share({ a: undefined }, { b: undefined })).toStrictEqual({ b: undefined });
    expect(share({ a: 1 }, {})).toStrictEqual({});
  });
});
