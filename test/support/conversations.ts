import path from 'node:path';
import { expect } from 'vitest';
import { ClientTools } from '../../backend/converse/client-tools.ts';
import { Converser } from '../../backend/converse/converser.ts';
import { spokenStep } from '../../backend/converse/spoken-step.ts';
import { Journal } from '../../backend/journal/journal.ts';
import { holderName } from '../../backend/journal/leases.ts';
import type { WorkersFile } from '../../backend/protocol/worker-config.ts';
import { RunManager } from '../../backend/solve/run-manager.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { NO_ADAPTER } from './no-adapter.ts';

const prices = await loadPrices();

/** Conversations on a real journal, with workers behind a real wire and without projects. */
export function startConversations(folder: string, workers: () => WorkersFile, { waitMs = 60_000, quietMs = 60_000 } = {}) {
  const journal = Journal.open(path.join(folder, 'journal.sqlite'));
  const tools = new ClientTools({ waitMs, quietMs });
  const problems: string[] = [];
  const loadWorkers = async (): Promise<WorkersFile> => workers();
  const runs = new RunManager({
    journal, caller: new WorkerCaller({ limits: new ProviderLimits(), prices, delay: async () => {} }), adapterVersion: NO_ADAPTER, holder: holderName(),
    clients: { secret: async () => null, confirm: async () => undefined, model: () => Promise.reject(new Error('no models')), changed: () => new Promise(() => {}) },
    checker: {
      findTestCommands: async () => [], runnerOf: async () => undefined, sandboxAvailability: async () => ({ available: false }),
      parsePatch: () => Promise.reject(new Error('no project')), verify: () => Promise.reject(new Error('no project')),
    },
    supply: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }), gatherContext: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }),
    spoken: (place) => spokenStep(place, tools), loadWorkers, priced: (worker) => worker, log: (problem) => problems.push(problem),
  });
  runs.resumeUnfinished();
  return {
    journal, runs, tools, converser: new Converser({ runs, tools, loadWorkers }),
    close: async (): Promise<void> => {
      await runs.close();
      journal.close();
      expect(problems).toEqual([]);
    },
  };
}
