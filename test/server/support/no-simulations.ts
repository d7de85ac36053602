import type { SimulationService } from '../../../backend/server/handlers/simulation-handlers.ts';

/** A backend that simulates nothing. */
export const NO_SIMULATIONS: SimulationService = {
  current: undefined,
  begin: () => Promise.reject(new Error('Nothing is simulated here.')),
  end: () => Promise.resolve(),
  listen: () => () => {},
};
