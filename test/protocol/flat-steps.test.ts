import { describe, expect, it } from 'vitest';
import { flatMessage, flatMetric, flatStepsOf, type FlatCause } from '../../backend/protocol/flat-steps.ts';

const taught = { examples: 8, reward: 0.7 };
const flat = (cause?: FlatCause): Record<string, number> => ({ examples: 0, ...(cause && { [flatMetric(cause)]: 4 }) });

describe('the steps that taught nothing', () => {
  it('are those without a completion to learn from', () => {
    expect(flatStepsOf({ metrics: [] })).toBeUndefined();
    expect(flatStepsOf({ metrics: [taught, taught] })).toBeUndefined();
    expect(flatStepsOf({ metrics: [taught, flat('solved')] })).toEqual({ flat: 1, of: 2, cause: 'solved', hasOneWorker: false });
  });

  it('are explained by what most of their groups have in common, and a flat group of another step does not count', () => {
    const mixed = { examples: 0, [flatMetric('solved')]: 1, [flatMetric('unsolved')]: 3 };
    const metrics = [{ ...taught, [flatMetric('solved')]: 9 }, mixed, mixed];
    expect(flatStepsOf({ metrics, pool: [{}] })).toEqual({ flat: 2, of: 3, cause: 'unsolved', hasOneWorker: true });
  });

  it('of which no text is a plan are told as such', () => {
    expect(flatMessage(flatStepsOf({ metrics: [flat('invalid')] })!)).toMatch(/^The only step taught nothing: all plans of a task had the same reward\. No text of the Conductor was a valid plan\./);
  });

  it('whose plans were all left out because they were cut off are not said to have had the same reward', () => {
    expect(flatMessage(flatStepsOf({ metrics: [flat('cut-off'), taught] })!))
      .toBe('1 of 2 steps taught nothing: plans were cut off. The Conductor wrote more than maxTokens allows. Raise maxTokens, or train another Conductor.');
  });

  it('of an earlier version are counted, without a reason', () => {
    expect(flatMessage(flatStepsOf({ metrics: [flat(), taught] })!)).toBe('1 of 2 steps taught nothing: all plans of a task had the same reward.');
  });
});
