import { indentOf } from './block-at.ts';
import { extensionOf } from './file-names.ts';

/*
 * Detects lines that define a name. This is not a parser; it knows how definitions start in each family of languages.
 */

interface Language {
  readonly extensions: readonly string[];
  /** Keywords before the defined name. */
  readonly keywords: string;
  /** Other ways to define NAME, as regular expressions. */
  readonly more?: readonly string[];
  readonly ignoresCase?: boolean;
}

/** A type, the name and its parameters, before the body. */
const C_LIKE_FUNCTION =
  '^[\\w\\s*&:<>,\\[\\]~.?@]{0,200}?[\\w>*&\\]]\\s{1,20}[*&]{0,3}(?:\\w{1,80}::)?NAME\\s{0,8}\\([^;]{0,400}$';

/** `async NAME<T>(…) {` in a class or an object. */
const SCRIPT_METHOD =
  '^\\s*(?:(?:public|private|protected|static|async|get|set|readonly|override|abstract)\\s+)*\\*?#?NAME\\s{0,8}'
  + '(?:<[^>]{0,200}>)?\\([^;]{0,400}\\{\\s*$';

/** `NAME: function`, `NAME = (…) =>`, `NAME = x =>`. */
const SCRIPT_FUNCTION_VALUE =
  '\\bNAME\\s{0,8}[:=]\\s{0,8}(?:async\\s{1,8})?'
  + '(?:function\\b|\\([^)]{0,200}\\)\\s{0,8}(?::[^=]{0,100})?=>|\\w{1,80}\\s{0,8}=>)';

const LANGUAGES: readonly Language[] = [
  {
    extensions: ['ts', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs', 'cjs', 'vue', 'svelte'],
    keywords: 'function\\*?|class|interface|type|enum|const|let|var|namespace',
    more: [SCRIPT_METHOD, SCRIPT_FUNCTION_VALUE],
  },
  { extensions: ['py', 'pyi'], keywords: 'def|class|type', more: ['^NAME\\s{0,8}(?::[^=]{0,200})?=(?!=)'] },
  { extensions: ['go'], keywords: 'func|type|var|const', more: ['\\bfunc\\s{1,8}\\([^)]{0,200}\\)\\s{0,8}NAME\\b'] },
  { extensions: ['rs'], keywords: 'fn|struct|enum|trait|type|const|static|mod|union|macro_rules!' },
  {
    extensions: ['java', 'cs', 'kt', 'kts', 'scala', 'groovy', 'dart'],
    keywords: 'class|interface|enum|record|struct|object|trait|fun|def|val|var|typealias',
    more: [C_LIKE_FUNCTION],
  },
  { extensions: ['swift'], keywords: 'func|class|struct|enum|protocol|actor|typealias|let|var' },
  {
    extensions: ['c', 'h', 'cc', 'cpp', 'cxx', 'hpp', 'hh', 'm', 'mm'],
    keywords: '#define|struct|class|enum|union|namespace|using',
    more: [C_LIKE_FUNCTION],
  },
  { extensions: ['rb'], keywords: 'def|class|module', more: ['\\bdef\\s{1,8}self\\.NAME\\b', '^\\s*NAME\\s{0,8}=(?!=)'] },
  { extensions: ['php'], keywords: 'function|class|interface|trait|enum|const' },
  { extensions: ['ex', 'exs'], keywords: 'def|defp|defmodule|defmacro|defstruct' },
  { extensions: ['lua'], keywords: 'function|local' },
  { extensions: ['sh', 'bash', 'zsh'], keywords: 'function', more: ['^\\s*NAME\\s{0,8}\\(\\)'] },
  { extensions: ['sql'], keywords: 'table|view|function|procedure|index', ignoresCase: true },
];

const LANGUAGE_OF = new Map(
  LANGUAGES.flatMap((language) => language.extensions.map((extension) => [extension, language] as const)),
);

/** Keywords that precede a defined name in some language. Used for searching, when the language of the file is not known yet. */
export const DEFINING_WORDS = [
  'function', 'class', 'interface', 'type', 'enum', 'const', 'let', 'var', 'def', 'func', 'fn', 'fun', 'struct', 'trait',
  'record', 'module', 'object', 'protocol',
] as const;

const MAX_LINE_LENGTH = 600;

/** @returns whether a line of a file defines the name, in the language of the file's extension */
export function definitionMatcher(name: string): (line: string, file: string) => boolean {
  const patterns = new Map<Language, RegExp>();
  const patternFor = (language: Language): RegExp => {
    const known = patterns.get(language);
    if (known) return known;
    const escaped = escapeForRegExp(name);
    const alternatives = [`(?:^|[\\s({;])(?:${language.keywords})\\s{1,8}NAME`, ...(language.more ?? [])]
      .map((alternative) => `(?:${alternative.replaceAll('NAME', () => `(?<![\\w$])${escaped}(?![\\w$])`)})`);
    const pattern = new RegExp(alternatives.join('|'), language.ignoresCase ? 'i' : '');
    patterns.set(language, pattern);
    return pattern;
  };
  return (line, file) => {
    const language = LANGUAGE_OF.get(extensionOf(file));
    if (!language || line.length > MAX_LINE_LENGTH || NOT_A_DEFINITION.test(line)) return false;
    return patternFor(language).test(line);
  };
}

/** Calls and branches that look like a function definition in C-like languages. */
const NOT_A_DEFINITION = /^\s*(?:return|if|else|for|while|switch|case|throw|await|new|import|from|using\s+\()\b/;

const DEFINED_NAME = new RegExp(
  `(?:^|[\\s({;])(${DEFINING_WORDS.join('|')})\\*?\\s{1,8}([\\p{L}_$][\\p{L}\\p{N}_$]{0,100})`, 'u',
);

/** The name that the line defines with a defining word, in any language. Local variables do not count. */
export function definedName(line: string): string | undefined {
  const [, word = '', name] = DEFINED_NAME.exec(line.slice(0, MAX_LINE_LENGTH)) ?? [];
  return ['const', 'let', 'var'].includes(word) && indentOf(line) > 0 ? undefined : name;
}

/** The result is valid for both JavaScript and ripgrep. */
export function escapeForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
