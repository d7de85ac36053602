/** The kinds of a worker's failure that pass by themselves: the same call may succeed soon. */
export const MOMENTARY_FAILURES = [
  'rate-limit', 'overloaded', 'server', 'network', 'first-token-timeout', 'idle-timeout', 'incomplete', 'invalid-response', 'model-died',
] as const;
