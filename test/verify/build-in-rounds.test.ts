import { describe, expect, it } from 'vitest';
import { buildInRounds } from '../../backend/verify/judge/build-in-rounds.ts';
import type { ExceededLimit } from '../../backend/verify/sandbox/process-group.ts';

interface Built {
  readonly kept: boolean;
  readonly rounds: number;
  readonly finished: boolean;
}

/** @param limits what stops each round; the rounds after these come to their end @param built how much there is after each round, if that is told */
async function built(limits: readonly ExceededLimit[], amounts?: readonly number[]): Promise<Built> {
  let rounds = 0;
  let finished = false;
  const kept = await buildInRounds({
    ...(amounts && { progress: () => Promise.resolve(amounts[rounds - 1] ?? 0) }),
    finish: () => Promise.resolve((finished = true)),
  }, () => Promise.resolve({ exceeded: limits[rounds++] }));
  return { kept, rounds, finished };
}

describe('what is built ahead', () => {
  it('is built in one round, if there is time enough', async () => {
    expect(await built([], [1])).toEqual({ kept: true, rounds: 1, finished: true });
  });

  it('goes on from what was built before it ran out of time, three rounds at most', async () => {
    expect(await built(['time'], [40])).toEqual({ kept: true, rounds: 2, finished: true });
    expect(await built(['time', 'time', 'time', 'time'], [40, 60, 70])).toEqual({ kept: true, rounds: 3, finished: true });
  });

  it('does not go on where a round built nothing more, and is kept', async () => {
    expect(await built(['time', 'time', 'time'], [40, 40])).toEqual({ kept: true, rounds: 2, finished: true });
    expect(await built(['time', 'time', 'time'], [0])).toEqual({ kept: true, rounds: 1, finished: true });
  });

  it('is lost where a tool chain leaves nothing of use, or another limit stopped it', async () => {
    expect(await built(['time'])).toEqual({ kept: false, rounds: 1, finished: false });
    expect(await built(['disk'], [40])).toEqual({ kept: false, rounds: 1, finished: false });
  });
});
