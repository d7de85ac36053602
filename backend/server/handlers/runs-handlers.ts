import type { ClientRequests } from '../../protocol/methods.ts';
import type { RequestHandlers } from '../../protocol/typed-connection.ts';
import type { RunService } from '../../solve/run-service.ts';
import type { RunFeed } from '../run-feed.ts';

type RunMethods = Extract<keyof ClientRequests, `run/${string}`>;

export function runsHandlers(runs: RunService, feed: RunFeed): RequestHandlers<ClientRequests, RunMethods> {
  return {
    'run/start': async ({ request }) => ({ runId: await runs.start(request) }),
    'run/demonstrate': async () => ({ runId: await runs.demonstrate() }),
    'run/cancel': ({ runId }) => {
      runs.cancel(runId);
      return {};
    },
    'run/stopStep': ({ runId, round, step }) => {
      runs.stopStep(runId, { round, step });
      return {};
    },
    'run/tellStep': ({ runId, round, step, text }) => {
      runs.tellStep(runId, { round, step }, text);
      return {};
    },
    'run/resume': async ({ runId, budget }) => {
      await runs.resume(runId, budget);
      return {};
    },
    'run/retry': async ({ runId, round, step, budget }) => ({ runId: await runs.retry(runId, { round, step }, budget) }),
    'run/again': async ({ runId, ...asked }) => ({ runId: await runs.again(runId, asked) }),
    'run/estimatePlan': ({ runId, round, plan }) => ({ estimate: runs.estimatePlan(runId, round, plan) }),
    'run/approvePlan': ({ runId, ...decision }) => {
      runs.approvePlan(runId, decision);
      return {};
    },
    'run/replan': ({ runId, ...decision }) => {
      runs.replan(runId, decision);
      return {};
    },
    'run/decideFailedBefore': ({ runId, ...decision }) => {
      runs.decideFailedBefore(runId, decision);
      return {};
    },
    'run/remove': async ({ runId }) => {
      await runs.remove(runId);
      return {};
    },
    'run/export': ({ runId, format }) => runs.questions.export(runId, format),
    'run/get': ({ runId }) => ({ run: runs.snapshot(runId) }),
    'run/list': ({ workspace, search, limit }) => ({ runs: runs.list({ workspace, search, limit }) }),
    'run/events': ({ runId, afterSeq }) => ({ events: runs.events(runId, afterSeq) }),
    'run/subscribe': ({ runId }, { afterReply }) => ({ run: feed.subscribe(runId, afterReply) }),
    'run/unsubscribe': ({ runId }) => {
      feed.unsubscribe(runId);
      return {};
    },
    'run/prompt': ({ runId, round, step }) => ({ messages: runs.questions.prompt(runId, round, step) }),
    'run/edits': ({ runId, takeBack }) => runs.questions.edits(runId, { takeBack }),
    'run/stepEdits': ({ runId, round, step }) => runs.questions.stepEdits(runId, { round, step }),
  };
}
