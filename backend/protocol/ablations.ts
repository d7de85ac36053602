/** What people call the ablations of plans: features that are taken from each plan before it is carried out (arXiv 2512.04388, Tables 9 and 10). */
export const ABLATIONS = ['access=all', 'access=nothing', 'access=all-or-nothing', 'vague', 'one-worker'] as const;
export type AblationName = (typeof ABLATIONS)[number];

/** Those that a training can have. For one worker, a training has a pool of one. */
export const TRAINING_ABLATIONS = ['access=all', 'access=nothing', 'access=all-or-nothing', 'vague'] as const satisfies readonly AblationName[];
