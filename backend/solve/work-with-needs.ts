import type { GatheredContext } from '../context/context.ts';
import type { Need, NeedsRequest } from '../context/needed-pieces.ts';
import { needsIn } from './needs.ts';
import type { RunFiles } from './run-files.ts';
import { conversation, type Observation, type StepWork } from './step-work.ts';

export type Supply = (request: NeedsRequest) => Promise<GatheredContext>;

/** Tokens of the pieces that a step is given on request: a third of the context that everybody gets. */
const SUPPLIED_TOKENS = 4_000;

/** A step that may ask once for code that it is not shown. The call that follows is held by the budget like any other. */
export function workWithNeeds(workspace: string, supply: Supply, files: Pick<RunFiles, 'read'>): StepWork {
  return {
    request: (messages, turns) => ({ messages: conversation(messages, turns) }),
    isOutput: ({ text }, turns) => turns.some(({ reply }) => needsIn(reply).length > 0) || needsIn(text).length === 0,
    observe: async (reply, signal) => {
      const needs: Need[] = needsIn(reply);
      return observationOf(await files.read(workspace, (folder) => supply({ workspace: folder, needs, tokenBudget: SUPPLIED_TOKENS, signal })));
    },
  };
}

function observationOf({ text, pieces, leftOut }: GatheredContext): Observation {
  const refused = leftOut.map(({ path, reason }) => `- ${path}: ${reason}`);
  const parts = [
    text === '' ? 'Nothing of what you asked for can be shown.' : `What you asked for:\n\n${text}`,
    ...(refused.length > 0 ? [`Not shown:\n${refused.join('\n')}`] : []),
    'Now do your subtask. You are not shown more, so where something is still missing, say what you assume.',
  ];
  return { text: parts.join('\n\n'), pieces };
}
