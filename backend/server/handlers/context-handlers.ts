import type { ClientRequests } from '../../protocol/methods.ts';
import type { RequestHandlers } from '../../protocol/typed-connection.ts';
import type { RunQuestions } from '../../solve/run-service.ts';

type WorkspaceMethods = 'context/preview' | 'localFirst/get' | 'tests/find' | 'tests/runner';

/** Information about a workspace that a client can request before a run. */
export function contextHandlers(
  questions: Pick<RunQuestions, 'previewContext' | 'localFirst' | 'findTests' | 'likelyTests' | 'runnerOf'>,
): RequestHandlers<ClientRequests, WorkspaceMethods> {
  return {
    'context/preview': async ({ request }, { signal }) => {
      const { pieces, leftOut, ...rest } = await questions.previewContext(request, signal);
      return { ...rest, pieces: [...pieces], leftOut: [...leftOut] };
    },
    'localFirst/get': ({ workspace }) => questions.localFirst(workspace),
    'tests/find': async ({ workspace }) => {
      const found = [...(await questions.findTests(workspace))];
      return { found, likely: found.length > 0 ? [] : [...(await questions.likelyTests(workspace))] };
    },
    'tests/runner': async ({ workspace, ...test }) => ({ runner: (await questions.runnerOf(test, workspace)) ?? null }),
  };
}
