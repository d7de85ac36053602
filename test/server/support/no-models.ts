import type { ModelsAccess } from '../../../backend/server/handlers/models-handlers.ts';

const none = (): Promise<never> => Promise.reject(new Error('no models here'));

/** A machine on which no model is, and none can be fetched. */
export const NO_MODELS: ModelsAccess = {
  list: () => Promise.resolve({ pulled: [], offered: [] }),
  pull: none,
  inspect: none,
  load: none,
  unload: () => Promise.resolve(),
  states: [],
  listen: () => () => {},
};
