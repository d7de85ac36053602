import * as z from 'zod';

/**
 * How a run with an answer ends. `passes`: its tests pass, but it is not shown that they would notice a wrong answer; `answered`: the
 * question asked for no change, and none came; `unchecked`: no test could tell; `not-verified`: the tests reject the answer, or it lacks
 * what was asked for.
 */
export const outcomeSchema = z.enum(['verified', 'passes', 'not-verified', 'answered', 'unchecked']);
export type Outcome = z.infer<typeof outcomeSchema>;
