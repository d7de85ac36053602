import path from 'node:path';

/** A readme links to what nobody can open who has the extension alone. */
export class ReadmeError extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'ReadmeError';
  }
}

export interface ReadmeOptions {
  /** Of the readme, relative to the repository's root; pictures are named relative to it. */
  readonly folder: string;
  /** Whether package.json names a repository: vsce then makes https: addresses in it of relative ones. */
  readonly hasRepository: boolean;
}

/**
 * The readme as a VSIX has it. The page of an extension shows pictures from https: addresses only: VS Code serves it no file of the
 * extension, and takes data: addresses out (checked in 1.139, whose sanitizer allows http: and https:). As long as the sources are
 * published nowhere, pictures are left out, each with its paragraph; those of the walkthrough do come from inside.
 * @throws ReadmeError for a link to a file.
 */
export function readmeInside(markdown: string, { folder, hasRepository }: ReadmeOptions): string {
  const dead = [...markdown.matchAll(/(?<!!)\[[^\]]*\]\((?!https:\/\/|#)([^)]*)\)/g)].map(([, target]) => target);
  if (dead.length > 0) {
    throw new ReadmeError(`The readme links to ${dead.join(', ')}, which nobody can open from the page of an extension.`);
  }
  if (!hasRepository) return markdown.replace(/^!\[[^\]]*\]\((?!https:\/\/)[^)]+\)\n\n?/gm, '');
  return markdown.replace(/(!\[[^\]]*\]\()(?!https:\/\/)([^)]+)(?=\))/g, (_, before: string, picture: string) =>
    before + path.posix.join(folder, picture));
}
