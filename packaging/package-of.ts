/**
 * @param file a path with forward slashes, as esbuild names its inputs.
 * @returns the folder of the installed package that the file belongs to, or undefined for a file of this project.
 */
export function packageOf(file: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0];
}
