/** The environment variable in which the script for the shell reaches the inside of the walls, past all quoting on the way. */
export const SCRIPT = 'CONDUCTOR_SCRIPT';

export const RUN_SCRIPT = `eval "$${SCRIPT}"`;

/**
 * What stands first in a script behind walls that fall with our own process: until they stand, it could be gone unnoticed, and the script
 * would run for ever. See `ProcessOptions.input`.
 */
export const ONLY_WHILE_WE_LIVE = 'echo >&4 && read -r answer <&4 || exit 1; unset answer; exec 4<&-';
