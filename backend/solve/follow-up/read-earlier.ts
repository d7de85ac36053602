import { realpath } from 'node:fs/promises';
import type { Earlier, EarlierChange, Exchange } from '../../protocol/earlier.ts';
import { withNewestPictures } from '../../protocol/newest-pictures.ts';
import type { Outcome } from '../../protocol/run-events.ts';
import type { RunRequest } from '../../protocol/run-request.ts';
import { answerOf } from '../../protocol/run-facts.ts';
import { isOver, type RunSnapshot } from '../../protocol/run-snapshot.ts';
import { RunRefusedError } from '../errors.ts';
import { clipExchanges } from './clip-exchanges.ts';
import { placeChange } from './earlier-change.ts';

/**
 * What a run continues from: the conversation up to the earlier run, and the change that it builds on. No file is read in a workspace that is
 * not trusted.
 * @param before the earlier run
 * @throws RunRefusedError if nothing can continue from it
 */
export async function readEarlier(before: RunSnapshot, request: Pick<RunRequest, 'workspace' | 'trusted' | 'pictures'>): Promise<Earlier> {
  const { runId, earlier, kind, state, request: { workspace } } = before;
  if (kind !== 'solve') throw new RunRefusedError(`Run "${runId}" belongs to a training, and no question continues from it.`);
  if (!isOver(state)) throw new RunRefusedError(`Run "${runId}" is under way: wait for its end, or cancel it.`);
  if (!(await isSameProject(workspace, request.workspace))) {
    throw new RunRefusedError(`Run "${runId}" is about another project, ${workspace ?? ''}: ask there, or ask anew.`);
  }
  const known = earlier?.exchanges ?? [];
  if (known.some((exchange) => exchange.runId === runId)) {
    throw new RunRefusedError(`Run "${runId}" continues from itself, so its conversation cannot be read: ask anew.`);
  }
  const change = request.trusted && request.workspace !== undefined ? await changeOf(before, request.workspace) : undefined;
  return { thread: earlier?.thread ?? runId, exchanges: withNewestPictures(clipExchanges([...known, exchangeOf(before)]), request.pictures), ...(change && { change }) };
}

/** A run without a project has no change, so its conversation may go on in one. */
async function isSameProject(one: string | undefined, other: string | undefined): Promise<boolean> {
  if (one === undefined || one === other) return true;
  if (other === undefined) return false;
  const [a, b] = await Promise.all([one, other].map((folder) => realpath(folder).catch(() => folder)));
  return a === b;
}

function exchangeOf(run: RunSnapshot): Exchange {
  const { runId, request: { question, pictures = [] }, state, outcome } = run;
  return {
    runId, question, ...(pictures.length > 0 && { pictures }), result: resultOf(run), answer: answerOf(run)?.text ?? '', isTold: true,
    state: state as Exchange['state'], ...(outcome && { outcome }),
  };
}

const RESULTS: Readonly<Record<Outcome, string>> = {
  'verified': 'The project\'s tests verified the answer.', 'passes': 'The tests pass with the answer, but do not prove it.',
  'not-verified': 'The answer is not verified.', 'answered': 'The answer changes no file.', 'unchecked': 'The answer was not tested.',
};

function resultOf({ state, outcome, message = '' }: RunSnapshot): string {
  const said = state === 'completed' ? RESULTS[outcome ?? 'unchecked'] : ENDINGS[state as keyof typeof ENDINGS];
  return [said, message].filter((text) => text !== '').join(' ');
}

const ENDINGS = {
  stopped: 'The run stopped at its limit.', failed: 'The run failed.', cancelled: 'The run was cancelled.',
} as const satisfies Record<Exclude<Exchange['state'], 'completed'>, string>;

/** The last change of the conversation, on the project as it is now. An answer in words leaves an earlier change to build on. */
async function changeOf(run: RunSnapshot, workspace: string): Promise<EarlierChange | undefined> {
  const own = answerOf(run)?.round.answer?.edits ?? [];
  const last = own.length > 0 ? { runId: run.runId, edits: own } : run.earlier?.change;
  if (!last) return undefined;
  const { runId } = last;
  const edits = [...last.edits];
  const placed = await placeChange(edits, workspace);
  const [lost, ...others] = placed.lost;
  if (lost) {
    const more = others.length > 0 ? ` So it is with ${others.length} more.` : '';
    return { runId, edits, state: 'lost', reason: `The change of the earlier answer does not fit the project any more: ${lost.path}: ${lost.reason}${more}` };
  }
  return { runId, edits, state: placed.edits.length > 0 ? 'pending' : 'there' };
}
