import { BUNDLED_MODEL, workerConfigSchema, type WorkerConfig } from '../protocol/worker-config.ts';

/** The worker entry of conductor-mini, the bundled model: it plans and does no steps. */
export const MINI_PLANNER: WorkerConfig = workerConfigSchema.parse({
  id: BUNDLED_MODEL, provider: 'local', model: BUNDLED_MODEL, promptProfile: 'mini', enabled: false,
});
