import { FAMILY_ENDINGS, type FamilyName } from '../../common/imports/language-families.ts';
import { extensionOf } from '../file-names.ts';
import type { SymbolKind } from './definition.ts';

/*
 * How a line begins that defines a name, in each family of languages. All patterns are anchored and every repetition is bounded, because
 * an index reads every line of a project. A parser would see more, at a hundred times the time: see docs/context.md.
 */

export interface DefinitionRule {
  readonly kind: SymbolKind;
  /** The first group is the name. */
  readonly pattern: RegExp;
  /** Only where the line is not indented: an indented one is a local variable. */
  readonly outermost?: boolean;
  /** A name with parameters is a definition only if a body follows. */
  readonly needsBody?: boolean;
  /** A call whose last argument is a function begins like this definition. */
  readonly looksLikeCall?: boolean;
}

export interface Family {
  readonly name: FamilyName;
  readonly extensions: readonly string[];
  readonly rules: readonly DefinitionRule[];
}

const NAME = '([\\p{L}_$][\\p{L}\\p{N}_$]{0,100})';
/** Its pattern is made when it is first asked for: few projects have files of all languages. */
const rule = (kind: SymbolKind, source: string, more: Partial<DefinitionRule> = {}): DefinitionRule => {
  let pattern: RegExp | undefined;
  return { kind, get pattern() { return (pattern ??= new RegExp(source.replaceAll('NAME', NAME), 'u')); }, ...more };
};

const SCRIPT_LEAD = '^\\s*(?:export\\s{1,4})?(?:default\\s{1,4})?(?:declare\\s{1,4})?(?:abstract\\s{1,4})?(?:async\\s{1,4})?';
const SCRIPT_FUNCTION = '(?:async\\s{1,4})?(?:function\\b|<[^>]{0,80}>\\(|\\(.{0,300}=>|\\([^)]{0,200}$|[\\w$]{1,80}\\s{0,4}=>)';
const SCRIPT_MODIFIERS =
  '(?:(?:public|private|protected|static|async|get|set|readonly|override|abstract|declare|accessor)\\s{1,4}){0,5}';
const RUST_LEAD = '^\\s*(?:pub(?:\\([^)]{0,40}\\))?\\s{1,4})?(?:default\\s{1,4})?';
const JVM_MODIFIERS =
  '(?:(?:public|private|protected|internal|static|final|abstract|override|open|sealed|data|async|virtual|partial|suspend|inline|'
  + 'synchronized|native|readonly|unsafe|default|implicit|case|lazy|value|external)\\s{1,4}){0,6}';
/** A type, a name and its parameters. */
const TYPED_FUNCTION = '[\\w<>\\[\\],.?*&:~]{1,120}(?:\\s{1,4}[\\w<>\\[\\],.?*&:~]{1,80}){0,4}\\s{0,4}[\\s*&]';

const FAMILIES: readonly Family[] = [
  {
    name: 'script',
    extensions: FAMILY_ENDINGS.script,
    rules: [
      rule('function', `${SCRIPT_LEAD}function\\s{0,4}\\*?\\s{0,4}NAME`),
      rule('class', `${SCRIPT_LEAD}class\\s{1,4}NAME`),
      rule('type', `${SCRIPT_LEAD}(?:const\\s{1,4})?(?:interface|enum|namespace)\\s{1,4}NAME`),
      rule('type', '^\\s*(?:export\\s{1,4})?(?:declare\\s{1,4})?type\\s{1,4}NAME\\s{0,4}(?:[<=]|$)'),
      rule('function', `^\\s*(?:export\\s{1,4})?(?:const|let|var)\\s{1,4}NAME\\s{0,4}(?::[^=]{0,200})?=\\s{0,4}${SCRIPT_FUNCTION}`),
      rule('variable', '^(?:export\\s{1,4})?(?:declare\\s{1,4})?(?:const|let|var)\\s{1,4}NAME', { outermost: true }),
      rule('function', `^\\s*[\\w$][\\w$.]{0,100}\\.NAME\\s{0,4}=\\s{0,4}(?:class\\b|${SCRIPT_FUNCTION})`),
      rule('variable', '^(?:module\\.)?exports\\.NAME\\s{0,4}=(?!=)', { outermost: true }),
      rule('function', `^\\s*['"]?NAME['"]?\\s{0,4}:\\s{0,4}${SCRIPT_FUNCTION}`),
      rule('method', `^\\s+${SCRIPT_MODIFIERS}#?NAME\\s{0,4}(?::[^=]{0,200})?=\\s{0,4}${SCRIPT_FUNCTION}`, { needsBody: true }),
      rule('method', `^\\s+${SCRIPT_MODIFIERS}\\*?\\s{0,4}#?NAME\\s{0,4}(?:<[^>]{0,200}>)?\\??\\(`, { needsBody: true, looksLikeCall: true }),
    ],
  },
  {
    name: 'python',
    extensions: FAMILY_ENDINGS.python,
    rules: [
      rule('function', '^\\s*(?:async\\s{1,4})?def\\s{1,4}NAME'),
      rule('class', '^\\s*class\\s{1,4}NAME'),
      rule('type', '^type\\s{1,4}NAME', { outermost: true }),
      rule('variable', '^NAME\\s{0,8}(?::[^=]{0,200})?=(?!=)', { outermost: true }),
    ],
  },
  {
    name: 'go',
    extensions: FAMILY_ENDINGS.go,
    rules: [
      rule('method', '^func\\s{1,4}\\([^)]{0,200}\\)\\s{0,4}NAME'),
      rule('function', '^func\\s{1,4}NAME'),
      rule('type', '^type\\s{1,4}NAME'),
      rule('variable', '^(?:var|const)\\s{1,4}NAME'),
      // In a group: `const (` or `var (`.
      rule('variable', '^\\tNAME(?:\\s{1,20}[\\w.*\\[\\]]{1,80})?\\s{0,20}=(?!=)'),
    ],
  },
  {
    name: 'rust',
    extensions: FAMILY_ENDINGS.rust,
    rules: [
      rule('function', `${RUST_LEAD}(?:const\\s{1,4})?(?:async\\s{1,4})?(?:unsafe\\s{1,4})?(?:extern\\s{1,4}"[^"]{0,20}"\\s{1,4})?fn\\s{1,4}NAME`),
      rule('type', `${RUST_LEAD}(?:unsafe\\s{1,4})?(?:struct|enum|trait|union|type)\\s{1,4}NAME`),
      rule('variable', `${RUST_LEAD}(?:const|static)\\s{1,4}(?:mut\\s{1,4})?NAME`),
      rule('module', `${RUST_LEAD}mod\\s{1,4}NAME\\s{0,4}\\{`),
      rule('function', '^\\s*macro_rules!\\s{0,4}NAME'),
      rule('class', '^\\s*(?:unsafe\\s{1,4})?impl(?:<.{0,120}>)?\\s{1,4}(?:[^{]{0,160}\\sfor\\s{1,4})?(?:[\\w]{1,80}::){0,4}NAME'),
    ],
  },
  {
    name: 'jvm',
    extensions: FAMILY_ENDINGS.jvm,
    rules: [
      rule('class', `^\\s*${JVM_MODIFIERS}(?:class|@?interface|enum|record|struct|object|trait|mixin|extension)\\s{1,4}NAME`),
      rule('function', `^\\s*${JVM_MODIFIERS}(?:fun|def)\\s{1,4}(?:<[^>]{0,80}>\\s{0,4})?(?:[\\w<>?,]{1,80}\\.)?NAME`),
      rule('type', `^\\s*${JVM_MODIFIERS}(?:typealias|typedef|type)\\s{1,4}NAME\\s{0,4}=`),
      rule('variable', `^${JVM_MODIFIERS}(?:val|var|const)\\s{1,4}NAME`, { outermost: true }),
      rule('method', `^\\s*${JVM_MODIFIERS}(?:<[^>]{0,80}>\\s{1,4})?${TYPED_FUNCTION}NAME\\s{0,4}\\(`, { needsBody: true }),
      rule('method', '^\\s{1,12}(?:(?:public|private|protected|internal)\\s{1,4})NAME\\s{0,4}\\(', { needsBody: true }),
    ],
  },
  {
    name: 'c',
    extensions: FAMILY_ENDINGS.c,
    rules: [
      rule('variable', '^#\\s{0,4}define\\s{1,4}NAME'),
      rule('class', '^\\s*(?:typedef\\s{1,4})?(?:template\\s{0,4}<.{0,120}>\\s{0,4})?(?:class|struct|union|enum(?:\\s{1,4}class)?)\\s{1,4}NAME\\s{0,4}(?:final\\s{0,4})?(?:[:{]|$)'),
      rule('module', '^\\s*namespace\\s{1,4}NAME'),
      rule('type', '^\\s*using\\s{1,4}NAME\\s{0,4}='),
      rule('function', `^\\s*${TYPED_FUNCTION}(?:\\w{1,80}::){0,3}NAME\\s{0,4}\\(`, { needsBody: true }),
      rule('method', '^(?:\\w{1,80}::){1,3}~?NAME\\s{0,4}\\(', { needsBody: true }),
    ],
  },
  {
    name: 'ruby',
    extensions: FAMILY_ENDINGS.ruby,
    rules: [
      rule('method', '^\\s*(?:private\\s{1,4})?def\\s{1,4}(?:self\\.)?NAME'),
      rule('class', '^\\s*(?:class|module)\\s{1,4}(?:\\w{1,80}::){0,4}NAME'),
      rule('variable', '^\\s*(\\p{Lu}[\\w]{0,80})\\s{0,8}=(?!=)'),
    ],
  },
  {
    name: 'php',
    extensions: FAMILY_ENDINGS.php,
    rules: [
      rule('function', '^\\s*(?:(?:public|private|protected|static|final|abstract)\\s{1,4}){0,4}function\\s{1,4}&?NAME'),
      rule('class', '^\\s*(?:(?:final|abstract|readonly)\\s{1,4}){0,3}(?:class|interface|trait|enum)\\s{1,4}NAME'),
      rule('variable', '^\\s*(?:(?:public|private|protected|final)\\s{1,4}){0,2}const\\s{1,4}NAME'),
    ],
  },
  {
    name: 'swift',
    extensions: FAMILY_ENDINGS.swift,
    rules: [
      rule('function', '^\\s*(?:@?\\w{1,20}(?:\\(set\\))?\\s{1,4}){0,5}func\\s{1,4}NAME'),
      rule('class', '^\\s*(?:@?\\w{1,20}\\s{1,4}){0,4}(?:class|struct|enum|protocol|actor|extension)\\s{1,4}NAME'),
      rule('variable', '^(?:\\w{1,20}\\s{1,4}){0,3}(?:let|var|typealias)\\s{1,4}NAME', { outermost: true }),
    ],
  },
  {
    name: 'elixir',
    extensions: FAMILY_ENDINGS.elixir,
    rules: [
      rule('function', '^\\s*(?:defp?|defmacrop?|defguard)\\s{1,4}NAME'),
      rule('module', '^\\s*(?:defmodule|defprotocol|defimpl)\\s{1,4}(?:\\w{1,80}\\.){0,6}NAME'),
    ],
  },
  {
    name: 'lua',
    extensions: FAMILY_ENDINGS.lua,
    rules: [
      rule('function', '^\\s*(?:local\\s{1,4})?function\\s{1,4}(?:\\w{1,80}[.:]){0,4}NAME'),
      rule('function', '^\\s*(?:local\\s{1,4})?(?:\\w{1,80}\\.){0,4}NAME\\s{0,4}=\\s{0,4}function\\b'),
      rule('variable', '^local\\s{1,4}NAME\\s{0,4}=', { outermost: true }),
    ],
  },
  {
    name: 'shell',
    extensions: FAMILY_ENDINGS.shell,
    rules: [
      rule('function', '^\\s*function\\s{1,4}NAME'),
      rule('function', '^\\s*NAME\\s{0,4}\\(\\)'),
      rule('variable', '^(?:export\\s{1,4}|readonly\\s{1,4})?NAME=', { outermost: true }),
    ],
  },
  {
    name: 'sql',
    extensions: FAMILY_ENDINGS.sql,
    rules: [{
      kind: 'type',
      pattern: /^\s*create\s{1,8}(?:or\s{1,4}replace\s{1,8})?(?:\w{1,20}\s{1,8}){0,2}(?:table|view|function|procedure|index|type|trigger)\s{1,8}(?:if\s{1,4}not\s{1,4}exists\s{1,4})?["`[]?(?:\w{1,80}["`\]]?\.["`[]?)?(\w{1,100})/iu,
    }],
  },
];

const FAMILY_OF = new Map(FAMILIES.flatMap((family) => family.extensions.map((extension) => [extension, family] as const)));

/** The rules for a file by its extension, or undefined where no definitions are read. */
export function familyOf(path: string): Family | undefined {
  return FAMILY_OF.get(extensionOf(path));
}

/** Words that are followed by a parenthesis and a block without being a definition. */
const NO_NAMES: ReadonlySet<string> = new Set([
  'if', 'for', 'while', 'switch', 'catch', 'return', 'function', 'with', 'do', 'else', 'try', 'new', 'await', 'typeof', 'throw', 'super',
  'match', 'unless', 'until', 'when', 'using', 'lock', 'fixed', 'foreach', 'elif', 'defined', 'sizeof', 'import', 'case', 'synchronized',
]);
/** A call at the beginning of a line looks like a method with a body when its last argument is a function. */
const CALL_WITH_BODY = /=>\s{0,4}\{?$|\bfunction\b[^(]{0,80}\([^)]{0,200}\)\s{0,4}\{$/;
const NO_DEFINITION = /^\s*(?:return|throw|await|yield|else|case|goto|delete|new|not|and|or|del|raise|assert|echo)\b/;
/** Longer lines are data or minified. */
const MAX_LINE_LENGTH = 600;

export interface DefiningLine {
  readonly name: string;
  readonly kind: SymbolKind;
  readonly needsBody: boolean;
}

/** The name that a line defines by the rules of its language. */
export function definingLine(line: string, family: Family): DefiningLine | undefined {
  if (line.length < 3 || line.length > MAX_LINE_LENGTH) return undefined;
  const isIndented = line[0] === ' ' || line[0] === '\t';
  for (const { kind, pattern, outermost = false, needsBody = false, looksLikeCall = false } of family.rules) {
    if (outermost && isIndented) continue;
    const name = pattern.exec(line)?.[1];
    if (name === undefined) continue;
    if (needsBody && (NO_NAMES.has(name) || NO_DEFINITION.test(line) || (looksLikeCall && CALL_WITH_BODY.test(line)))) continue;
    return { name, kind, needsBody };
  }
  return undefined;
}
