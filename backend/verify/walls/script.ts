/** The environment variable in which the script for the shell reaches the inside of the walls, past all quoting on the way. */
export const SCRIPT = 'CONDUCTOR_SCRIPT';

export const RUN_SCRIPT = `eval "$${SCRIPT}"`;
