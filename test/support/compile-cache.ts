const folder = process.env['NODE_COMPILE_CACHE'];

/** For the environment of a Node that a test starts: it need not compile again what another has compiled. */
export const COMPILE_CACHE: Readonly<Record<string, string>> = folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
