/** For runs that no model of this machine plans. */
export const NO_ADAPTER = (): Promise<never> => Promise.reject(new Error('no model of this machine plans here'));
