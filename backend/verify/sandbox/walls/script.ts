/** The environment variable that carries the script into the sandbox. It needs no quoting. */
export const SCRIPT = 'CONDUCTOR_SCRIPT';

export const RUN_SCRIPT = `eval "$${SCRIPT}"`;

/**
 * The first line of a script in a sandbox that ends with our process. If we end while the sandbox starts, it would not notice, and the script
 * would run for ever. See `ProcessOptions.input`.
 */
export const ONLY_WHILE_WE_LIVE = 'echo >&4 && read -r answer <&4 || exit 1; unset answer; exec 4<&-';

/** The next line of one that reads no input: the empty one is the machine's /dev/null, whose rights root could change. This is that of the walls. */
export const EMPTY_INPUT = 'exec < /dev/null';
