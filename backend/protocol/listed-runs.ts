/** So many past runs, the newest, come with the panel's state; older ones are asked for. */
export const LISTED_RUNS = 50;
