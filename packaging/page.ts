import path from 'node:path';

/** A page of the extension links to files that are not in the extension. */
export class PageError extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'PageError';
  }
}

export interface PageOptions {
  /** Of the page, relative to the repository's root; pictures are named relative to it. */
  readonly folder: string;
  /** Whether package.json names a repository: vsce then makes https: addresses in it of relative ones. */
  readonly hasRepository: boolean;
}

/**
 * Converts a page for a VSIX: its readme or its list of changes. An extension's page shows pictures from https: addresses only: VS Code does
 * not serve the extension's files there, and removes data: addresses (checked in 1.139, whose sanitizer allows http: and https:). Until the
 * sources are published, pictures and their paragraphs are left out. The walkthrough can show pictures from the extension.
 * @throws PageError for a link to a file.
 */
export function pageInside(markdown: string, { folder, hasRepository }: PageOptions): string {
  const dead = [...markdown.matchAll(/(?<!!)\[[^\]]*\]\((?!https:\/\/|#)([^)]*)\)/g)].map(([, target]) => target);
  if (dead.length > 0) {
    throw new PageError(`The page links to ${dead.join(', ')}, which nobody can open from the page of an extension.`);
  }
  if (!hasRepository) return markdown.replace(/^!\[[^\]]*\]\((?!https:\/\/)[^)]+\)\n\n?/gm, '');
  return markdown.replace(/(!\[[^\]]*\]\()(?!https:\/\/)([^)]+)(?=\))/g, (_, before: string, picture: string) =>
    before + path.posix.join(folder, picture));
}
