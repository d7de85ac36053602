import type { LocalConductor } from '../../backend/solve/run-manager.ts';

/** For runs that no model of this machine plans. */
export const NO_LOCAL_CONDUCTOR: LocalConductor = {
  adapterVersion: () => Promise.reject(new Error('no model of this machine plans here')),
  policy: () => { throw new Error('no model of this machine plans here'); },
};
