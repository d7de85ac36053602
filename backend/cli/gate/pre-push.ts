import { realpath } from 'node:fs/promises';
import { runGit } from '../../verify/git/git-safety.ts';
import type { CommandContext } from '../command.ts';
import { judgeChange } from '../judge-change.ts';
import { UsageError } from '../usage-error.ts';
import { readPushes } from './pushes.ts';
import { decideStop, LEFT_OUT, type GateWords, type StopDecision } from './stop-decision.ts';

/** Where a new branch begins, as far as it can be known. */
const MAIN_BRANCHES = ['refs/remotes/origin/HEAD', 'refs/remotes/origin/main', 'refs/remotes/origin/master'];

const WORDS: GateWords = { what: 'what is about to be pushed, and it breaks them', mend: 'Mend this, or push anyway with: git push --no-verify', leftOut: LEFT_OUT };

/**
 * Judges the commits that are about to be pushed, if they are those that are checked out, on top of what the other side has. Tests that
 * pass there and fail here refuse the push. @throws the signal's reason
 */
export async function judgePush(
  text: string, { command }: { readonly command: string | undefined }, { openVerification, currentFolder, interrupted: signal }: CommandContext,
): Promise<StopDecision> {
  const git = async (...args: string[]): Promise<string | undefined> => {
    try {
      return (await runGit(currentFolder, args, { signal })).toString('utf8').trim();
    } catch {
      signal.throwIfAborted();
      return undefined;
    }
  };
  try {
    const head = await git('rev-parse', 'HEAD');
    const push = readPushes(text).find(({ commit }) => commit === head);
    if (!push) return { block: false };
    let base = push.known;
    for (const branch of base === undefined ? MAIN_BRANCHES : []) base ??= await git('merge-base', 'HEAD', branch);
    if (base === undefined) return { block: false, tell: 'Conductor has not judged this push: it is not known what the branch is built on.' };
    const workspace = await realpath((await git('rev-parse', '--show-toplevel')) ?? currentFolder);
    const result = await judgeChange({ workspace, base, command, openVerification, sandboxed: true, signal, onProgress: () => {} });
    return decideStop(result, { isContinued: true, words: WORDS });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UsageError) return { block: false, tell: `Conductor has not judged this push: ${error.message}` };
    throw error;
  }
}
