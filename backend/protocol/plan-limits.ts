// Kept apart from plan.ts, whose schema the panel's page does not load.

/* The limits of a plan that a person changes, as in backend/workflow, which may not import them: tests compare the two. */

export const MOST_STEPS = 5;
/** Of a step's instruction, in UTF-16 units. */
export const MOST_CHARACTERS = 8_000;
