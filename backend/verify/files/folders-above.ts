import path from 'node:path';

/** The folders that a file is in, the innermost first. The last is '.', for the workspace itself. @param file relative, with forward slashes */
export function foldersAbove(file: string): readonly string[] {
  const folder = path.posix.dirname(file);
  return folder === '.' ? ['.'] : [folder, ...foldersAbove(folder)];
}
