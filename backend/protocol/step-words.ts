/** The longest text that a person may say to the worker of a step at once, in UTF-16 units. As long as a question's worth of instructions. */
export const MAX_STEP_WORDS = 8_000;
