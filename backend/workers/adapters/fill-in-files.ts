import type { FillIn, GapPiece } from '../model.ts';

/*
 * How parts of other files stand in the text before a gap, for models and servers that have no markers for files.
 */

/** The text before the gap, with the parts of other files above it. */
export type TextBefore = (gap: FillIn) => string;

const HASH = /\.(?:py|pyi|rb|sh|bash|zsh|fish|ya?ml|toml|pl|pm|r|jl|ex|exs|nim|ps1|tf|cmake|mk|conf|cfg|ini)$|(?:^|\/)(?:Makefile|Dockerfile|Rakefile|Gemfile)$/i;
const DASHES = /\.(?:sql|lua|hs|elm|adb|ads|vhdl?)$/i;
const PERCENT = /\.(?:tex|erl|hrl|m)$/i;
const SEMICOLON = /\.(?:clj[cs]?|edn|el|lisp|scm|asm)$/i;
/** Files in which no line can be a comment of its own. */
const NO_LINE_COMMENT = /\.(?:html?|xml|svg|md|mdx|vue|svelte|css|json|txt|rst|csv|tsv|ipynb|ml|mli)$/i;

/** What begins a comment in a file of this name; undefined where no line can be a comment of its own. */
export function lineComment(path: string): string | undefined {
  if (NO_LINE_COMMENT.test(path)) return undefined;
  if (HASH.test(path)) return '#';
  if (DASHES.test(path)) return '--';
  if (PERCENT.test(path)) return '%';
  return SEMICOLON.test(path) ? ';;' : '//';
}

/**
 * As comments, the path first: valid code for every model that fills gaps. Copilot's prompts do the same
 * (https://thakkarparth007.github.io/copilot-explorer/posts/copilot-internals).
 */
export const inComments: TextBefore = ({ before, project }) => {
  const comment = project && lineComment(project.path);
  if (!project || project.pieces.length === 0 || comment === undefined) return before;
  const commented = ({ path, text }: GapPiece): string =>
    [`${path}:`, ...text.trimEnd().split('\n')].map((line) => `${comment} ${line}`.trimEnd()).join('\n');
  return [...project.pieces.map(commented), `${comment} ${project.path}:`, before].join('\n');
};

/** One after the other, each under a comment with its path: DeepSeek-Coder's README, "Repository Level Code Completion". */
export const underPaths: TextBefore = ({ before, project }) => {
  const comment = project && lineComment(project.path);
  if (!project || project.pieces.length === 0 || comment === undefined) return before;
  return [
    ...project.pieces.map(({ path, text }) => `${comment}${path}\n${text.trimEnd()}\n\n`), `${comment}${project.path}\n`, before,
  ].join('');
};

/** Under `+++++ path`: Continue's core/autocomplete/templating/AutocompleteTemplate.ts, `codestralMultifileFimTemplate`. */
export const underPluses: TextBefore = ({ before, project }) => {
  if (!project || project.pieces.length === 0) return before;
  return [
    ...project.pieces.map(({ path, text }) => `+++++ ${path}\n${text.trimEnd()}\n\n`), `+++++ ${project.path}\n`, before,
  ].join('');
};
