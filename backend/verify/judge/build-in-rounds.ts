import type { PreparedBuild } from '../runners/test-runner.ts';
import type { SandboxOutcome } from '../sandbox/sandbox.ts';

/** As many rounds as a verdict has runs of the tests. Without the build ahead, each of those would build the same again and lose it. */
const MOST_ROUNDS = 3;

/**
 * Builds ahead. A build that runs out of time is started again on top of what it has built, as long as that grows. If it never finishes, its
 * parts are kept. @returns false if nothing can be kept
 */
export async function buildInRounds({ progress, finish }: Pick<PreparedBuild, 'progress' | 'finish'>, build: () => Promise<Pick<SandboxOutcome, 'exceeded'>>): Promise<boolean> {
  let built = 0;
  for (let round = 1; round <= MOST_ROUNDS; round += 1) {
    const { exceeded } = await build();
    if (exceeded === undefined) break;
    if (exceeded !== 'time' || !progress) return false;
    const now = await progress();
    if (now === built) break;
    built = now;
  }
  return (await finish?.()) !== false;
}
