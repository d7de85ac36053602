/**
 * Source text for the guard of vitest's processes. A compiler that vitest starts keeps what it has learned beside vitest's own files. There it may
 * not write, and vitest takes that for an error in the types. So the compiler is told another place, in the temporary folder of the run. The guard is
 * loaded by the compiler itself, since newer versions of vitest search the project's own folders before PATH.
 *
 * vitest names the place in an option, and before 3.0 in a configuration of its own, `tsconfig.vitest-temp.json`, which an option overrides.
 */
export const TYPE_CHECKER = `
if (isMainThread && /[\\\\/](?:tsc|vue-tsc|tsgo)(?:\\.[cm]?js)?$/.test(process.argv[1])) {
  const { argv } = process;
  const option = '--tsBuildInfoFile';
  const place = require('path').join(require('os').tmpdir(), 'types-' + process.pid + '.tsbuildinfo');
  const at = argv.indexOf(option);
  if (at >= 0) argv[at + 1] = place;
  else if (argv.some((word) => word.includes('vitest-temp'))) argv.push(option, place);
}
`;
