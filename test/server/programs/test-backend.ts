// A whole backend process with runs that a test steers: `run/start` with the question "keep" begins a run that goes on for ever,
// "wait" one that waits for a person. Configured by the environment, as nothing else is passed on.
import path from 'node:path';
import { Journal } from '../../../backend/journal/journal.ts';
import { conductorHome } from '../../../backend/protocol/client/conductor-home.ts';
import { BackendHealth, nodeProblem } from '../../../backend/server/health.ts';
import { PoolEditor } from '../../../backend/server/handlers/workers-handlers.ts';
import { hostBackend } from '../../../backend/server/host-backend.ts';
import { MemoryRuns } from '../support/memory-runs.ts';
import { NO_EVALUATIONS } from '../support/no-evaluations.ts';
import { NO_MODELS } from '../support/no-models.ts';
import { NO_CONVERSATIONS } from '../support/no-conversations.ts';
import { NO_ENDPOINTS } from '../support/no-endpoints.ts';
import { NO_SIMULATIONS } from '../support/no-simulations.ts';
import { NO_SUGGESTIONS } from '../support/no-suggestions.ts';
import { NO_TRAININGS } from '../support/no-trainings.ts';

class SteeredRuns extends MemoryRuns {
  override async start(...[request]: Parameters<MemoryRuns['start']>): Promise<string> {
    const runId = await super.start(request);
    if (request.question === 'wait') this.change(runId, 'waiting');
    else this.activeRuns += 1;
    return runId;
  }
}

const home = conductorHome();
const { TEST_VERSION = '1.0.0', TEST_IDLE_MS = '60000', TEST_OLD_NODE } = process.env;
const problem = nodeProblem(TEST_OLD_NODE ? { version: TEST_OLD_NODE, hasBuiltin: () => false } : undefined);
if (problem) {
  console.error(problem);
  process.exit(78);
}
const ended = await hostBackend({
  home,
  version: TEST_VERSION,
  idleMs: Number(TEST_IDLE_MS),
  log: (line) => console.log(line),
  compose: async (clients) => {
    const journal = Journal.open(path.join(home, 'journal.sqlite'));
    return {
      runs: new SteeredRuns(),
      pool: new PoolEditor({
        file: path.join(home, 'workers.json'), tryWorker: () => Promise.reject(new Error('not here')), priceOf: () => undefined,
        whyNoModel: () => Promise.resolve(undefined), findServers: () => Promise.resolve({ servers: [], looked: [] }), findAgents: () => Promise.resolve([]),
        listModels: () => Promise.reject(new Error('not here')), nextPlanner: () => undefined,
      }, clients),
      models: NO_MODELS,
      trainings: NO_TRAININGS,
      evaluations: NO_EVALUATIONS,
      suggestions: NO_SUGGESTIONS,
      conversations: NO_CONVERSATIONS,
      endpoints: NO_ENDPOINTS,
      simulations: NO_SIMULATIONS,
      judged: journal,
      health: new BackendHealth({
        backendVersion: TEST_VERSION, problems: [], sandbox: Promise.resolve({ available: false }), look: () => Promise.reject(new Error('not here')),
      }),
      close: async () => journal.close(),
    };
  },
});
console.log(`ended: ${ended}`);
