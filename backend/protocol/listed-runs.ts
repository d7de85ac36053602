/** The number of most recent runs in the panel's state. Older ones are loaded on request. */
export const LISTED_RUNS = 50;
