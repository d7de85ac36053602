/*
 * What a question names: files, symbols, errors, options and quoted texts. They are copied from the question and looked up nowhere, so a
 * name need not exist in the project. The question is untrusted: every pattern reads a bounded number of characters once.
 */

export type NameKind = 'path' | 'symbol' | 'error' | 'option' | 'text';

export interface QuestionName {
  readonly kind: NameKind;
  /** As the question has it, on one line. */
  readonly text: string;
}

/** Names, and the question without them: each one is replaced by {@link NAME_PLACE}, so that a name's words are not read as words. */
export interface NamedQuestion {
  readonly names: readonly QuestionName[];
  readonly prose: string;
}

export const NAME_PLACE = '\u0001';

const MAX_NAMES = 24;
const MAX_NAME_LENGTH = 120;

const EXTENSIONS =
  'tsx?|jsx?|mjs|cjs|mts|cts|vue|svelte|astro|py|pyi|ipynb|go|rs|java|kts?|scala|rb|php|cs|fs|cpp|cc|cxx|c|hpp|hh|h|m|mm|swift|dart|lua|r|jl|exs?|erl|hs|ml|clj|' +
  'sh|bash|zsh|fish|ps1|bat|sql|html?|css|scss|sass|less|json5?|jsonc|ya?ml|toml|ini|cfg|conf|env|lock|xml|gradle|proto|graphql|tf|md|mdx|rst|txt|csv|tsv|log|diff|patch|svg|png|pdf|gz|zip';

/** Folders by which a path without an extension is known: "client/server" is no path. */
const FOLDERS = '(?:\\.{1,2}|~|src|lib|libs|test|tests|spec|app|apps|packages|pkg|cmd|internal|docs?|scripts?|tools?|backend|frontend|server|client|api|core|utils?|components?|services?|modules?|node_modules|dist|build|config|public|examples?|bin|etc|usr|var|home|tmp|opt|\\.github|\\.vscode)';

/** Products and formats whose names look like symbols. */
const NOT_SYMBOLS = new Set([
  'JavaScript', 'TypeScript', 'CoffeeScript', 'GitHub', 'GitLab', 'PostgreSQL', 'MySQL', 'MariaDB', 'MongoDB', 'NoSQL', 'SQLite', 'GraphQL', 'WebSocket', 'WebSockets',
  'OAuth', 'OAuth2', 'NodeJS', 'VSCode', 'macOS', 'iOS', 'LaTeX', 'FastAPI', 'PyTorch', 'TensorFlow', 'NumPy', 'DevOps', 'WebAssembly', 'OpenAI', 'OpenAPI', 'YouTube',
  'JetBrains', 'IntelliJ', 'PowerShell', 'DynamoDB', 'CloudFormation', 'ESLint', 'TailwindCSS', 'NextJS', 'VueJS', 'ReactJS', 'RxJS', 'jQuery', 'pnpm', 'WordPress', 'LinkedIn',
  'Node.js', 'node.js', 'Next.js', 'next.js', 'Vue.js', 'vue.js', 'React.js', 'Express.js', 'express.js', 'Nuxt.js', 'Three.js', 'D3.js', 'ASP.NET', 'e.g', 'i.e', 'z.B', 'd.h', 'p.ex', 'a.k.a', 'o.ä', 'u.a',
  'bzw', 'etc',
].map((name) => name.toLowerCase()));

/** A word after which the next one is a name, such as "function merge", and words that are none. */
const CALLED = '(?:functions?|methods?|class(?:es)?|variable|hook|struct|interface|decorator|macro|enum|table|column|field|Funktion|Methode|Klasse|Variable|Tabelle|Spalte|fonction|méthode|classe|función|método|clase|função|funzione|metodo|functie|klasse|funkcj[aięę]|функци[яиюей]{1,2}|метод|класс)';

const ERROR_WORDS =
  /\b(?:errors?|exception|traceback|panic(?:ked)?|cannot|can't|could not|failed|undefined|not found|not defined|unexpected|invalid|missing|refused|denied|timed? ?out|unknown|no such|out of (?:range|memory|bounds)|overflow|deadlock|unresolved|expected|mismatch|does not exist|is not (?:a|an|assignable|callable|defined|iterable)|has no (?:attribute|member|property))\b|\bE[A-Z]{4,}\b/i;

interface Source {
  readonly pattern: RegExp;
  /** Undefined if the match is no name. */
  readonly read: (match: RegExpExecArray) => QuestionName | undefined;
  /** What stands in place of the match in the prose; the place of a name where absent. */
  readonly prose?: (match: RegExpExecArray) => string;
}

const named = (kind: NameKind, text: string | undefined): QuestionName | undefined => {
  const line = text?.replace(/\s+/g, ' ').trim() ?? '';
  return line === '' ? undefined : { kind, text: line.length > MAX_NAME_LENGTH ? `${line.slice(0, MAX_NAME_LENGTH - 1)}…` : line };
};

const PATH = new RegExp(`^(?:[\\w@.~+$-]*/)*[\\w@.~+$-]+\\.(?:${EXTENSIONS})(?::\\d+){0,2}$|^(?:[\\w@.~+$-]+/)+[\\w@.~+$-]*$|^(?:Makefile|Dockerfile|README|LICENSE|Gemfile|Procfile|Jenkinsfile)$`, 'i');

/** The name in backticks or quotes. */
function quoted(text: string): QuestionName | undefined {
  const inner = text.trim();
  if (/^--?[A-Za-z][\w-]*$/.test(inner)) return named('option', inner);
  if (PATH.test(inner)) return named('path', inner);
  if (/^[\p{L}_$@#.][\p{L}\p{N}_$]*(?:(?:\.|::|->|#)[\p{L}\p{N}_$]+)*(?:\([^()]{0,60}\))?$/u.test(inner) && !ERROR_WORDS.test(inner)) return named('symbol', inner);
  return named(ERROR_WORDS.test(inner) || /(?:Error|Exception)\b/.test(inner) ? 'error' : 'text', inner);
}

/** In the order in which they take their characters from the question. */
const SOURCES: readonly Source[] = [
  // Stack frames and log lines of a pasted trace.
  {
    pattern: /^[ \t]{0,20}at (?:async |new )?([\p{L}_$][\p{L}\p{N}_$.<>]{0,100})?[^\n]{0,300}$/gmu,
    read: ([, frame = '']) => (isLibrary(frame) ? undefined : named('symbol', frame.split('.').at(-1))),
    prose: () => '\n',
  },
  {
    pattern: /^[ \t>]{0,20}(?:goroutine \d+ |thread '[^'\n]{1,80}' panicked|Caused by:|npm ERR!|error\[E\d{4}\]:?)[^\n]{0,300}$/gm,
    read: ([line]) => named('error', line),
  },
  { pattern: /^[ \t>]{0,20}Traceback \(most recent call last\):$/gm, read: () => undefined, prose: () => '' },
  {
    pattern: /^([ \t]{0,20}File "[^"\n]{1,200}", line \d{1,7}), in ([\p{L}_$][\p{L}\p{N}_$]{0,100})/gmu,
    read: ([, , name]) => named('symbol', name),
    prose: ([, file = '']) => file,
  },
  { pattern: /^[ \t]{0,20}File "([^"\n]{1,200})", line \d{1,7}[^\n]{0,120}$/gm, read: ([, file]) => named('path', file) },
  { pattern: /https?:\/\/[^\s<>"')\]]{1,500}/g, read: () => undefined },
  { pattern: /`([^`\n]{1,300})`/g, read: ([, text = '']) => quoted(text) },
  {
    pattern: /(?<![\p{L}\p{N}_"“«„'])(?:(?:[\p{Lu}][\p{L}\p{N}_.]{0,60})?(?:Error|Exception|Panic)|panic|fatal|SIGSEGV|Segmentation fault)(?: \[\w{1,30}\])?: [^\n"“”«»]{1,160}/gu,
    read: ([text]) => named('error', text.replace(/[.!?\s]+(?:\s.*)?$/, (end, at: number) => (at > 60 ? '' : end)).replace(/[.!?\s]+$/, '')),
  },
  { pattern: /"([^"\n]{2,300})"|“([^”\n]{2,300})”|«([^»\n]{2,300})»|„([^“”"\n]{2,300})[“”"]|「([^」\n]{1,120})」|『([^』\n]{1,120})』/g, read: (match) => quoted(match.slice(1).find(Boolean) ?? '') },
  { pattern: /(?<![\p{L}\p{N}])'([^'\n]{2,200})'(?![\p{L}\p{N}])/gu, read: ([, text = '']) => quoted(text) },
  {
    pattern: new RegExp(
      `(?<![\\w@./~+$#-])#?((?:[\\w@.~+$-]{1,80}/){0,12}[\\w@.~+$-]{1,80}\\.(?:${EXTENSIONS})|(?:\\.{0,2}/)?(?:${FOLDERS}/)(?:[\\w@.~+$-]{1,80}/){0,12}[\\w@.~+$-]{0,80}|(?:[\\w@.~+$-]{1,80}/){2,12}[\\w@.~+$-]{1,80}|Makefile|Dockerfile|Jenkinsfile|Procfile|Gemfile)(?::\\d{1,7}){0,2}(?![\\w/])`, 'g',
    ),
    read: ([text]) => (NOT_SYMBOLS.has(text.toLowerCase()) || /^\d/.test(text) ? undefined : named('path', text.replace(/[.#]+$|^#/g, ''))),
  },
  { pattern: /(?<![\p{L}\p{N}_.-])[\p{Lu}][\p{L}\p{N}_]{0,60}(?:Error|Exception)\b/gu, read: ([text]) => named('error', text) },
  { pattern: /(?<![\p{L}\p{N}_])(?:ERR_[A-Z_]{2,40}|E(?:NOENT|RESOLVE|ACCES|ADDRINUSE|CONNREFUSED|PERM|PIPE|ISDIR|EXIST|TIMEDOUT|INTEGRITY)|(?:TS|CS|C|E)\d{4,5}|SQLSTATE\[?\w{1,8}\]?)(?![\p{L}\p{N}_])/gu, read: ([text]) => named('error', text) },
  { pattern: /(?<![\p{L}\p{N}_-])--[A-Za-z][\w-]{1,60}|(?<![\p{L}\p{N}_-])-[A-Za-z](?![\p{L}\p{N}_-])/gu, read: ([text]) => named('option', text) },
  // A call: the arguments are cut where they are long.
  {
    pattern: /(?<![\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{N}_$])((?:[\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}_$][\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{N}_$]{0,80}(?:\.|::|->|#)){0,6}[\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}_$][\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{N}_$]{0,80})\(([^()\n]{0,80})\)?/gu,
    read: ([, name = '', inside = '']) => (isCall(name, inside) ? named('symbol', name) : undefined),
    // Words in parentheses that directly follow a word are still words.
    prose: ([text, name = '', inside = '']) => (isCall(name, inside) ? ` ${NAME_PLACE} ` : text),
  },
  {
    pattern: /(?<![\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{N}_$.])@?(?:[\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}_$][\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{N}_$]{0,80}(?:\.|::|->|#)){0,6}[\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}_$][\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{N}_$]{0,80}(?![\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{N}_$])/gu,
    read: ([text]) => (isSymbol(text) ? named('symbol', text) : undefined),
    prose: ([text]) => (isSymbol(text) ? ` ${NAME_PLACE} ` : text),
  },
  {
    pattern: new RegExp(`(?<![\\p{sc=Latin}\\p{sc=Cyrillic}\\p{sc=Greek}\\p{N}_])${CALLED} ([\\p{sc=Latin}\\p{sc=Cyrillic}\\p{sc=Greek}_$][\\p{sc=Latin}\\p{sc=Cyrillic}\\p{sc=Greek}\\p{N}_$]{1,60})(?![\\p{sc=Latin}\\p{sc=Cyrillic}\\p{sc=Greek}\\p{N}_$])`, 'gu'),
    read: ([, name = '']) => (isOrdinaryWord(name) ? undefined : named('symbol', name)),
    prose: ([text, name = '']) => (isOrdinaryWord(name) ? text : `${text.slice(0, -name.length)}${NAME_PLACE}`),
  },
];

/** Frames of a runtime, which nobody asks about. */
const isLibrary = (frame: string): boolean => /^(?:Object|Module|Function|Array|Promise|process|node|internal|java|sun|jdk|org\.(?:springframework|junit|apache)|Microsoft|System)\b|^<?anonymous>?$|internal\//.test(frame);

/** Words that follow "function" or "class" in a sentence. Other languages mostly put a preposition there, which is short. */
const ORDINARY = new Set(
  ('that which who with and for from into does should must takes returns return named called name names to of in on is are it if as or but at by component components call calls ' +
    'definition signature body pointer parameter parameters argument arguments declaration declarations expression hierarchy diagram has have was were can will would could when where while ' +
    'der die das und oder mit für von nicht wird soll eine einen que qui pour avec dans est des les para con una del como che per con della die een voor met van niet który która które dla jest который которая для это').split(' '),
);

const isOrdinaryWord = (word: string): boolean => word.length < 3 || ORDINARY.has(word.toLowerCase());

function isCall(name: string, inside: string): boolean {
  if (NOT_SYMBOLS.has(name.toLowerCase())) return false;
  if (/^(?:if|for|while|switch|catch|return|and|or|not|in)$/i.test(name)) return false;
  // "function (…)" of prose has a space before the parenthesis and is not matched; "merge(s)" is a plural.
  return inside !== 's' && inside !== 'es' && inside !== 'en' && inside !== 'e';
}

/** Whether a word cannot be one of a sentence: it has an underscore, an inner capital, or parts joined as in code. */
function isSymbol(word: string): boolean {
  if (NOT_SYMBOLS.has(word.toLowerCase()) || /^[\d_]+$/.test(word)) return false;
  if (word.startsWith('@')) return word.length > 2;
  if (/^\p{L}[\p{L}\p{N}]*_[\p{L}\p{N}_]+$|^_+\p{L}[\p{L}\p{N}_]*$|^\p{L}[\p{L}\p{N}]*_$/u.test(word)) return true;
  if (/::|->|\w#\w/.test(word)) return true;
  if (word.includes('.')) return /^[\p{L}_$][\p{L}\p{N}_$]+(?:\.[\p{L}_$][\p{L}\p{N}_$]+)+$/u.test(word) && !/^(?:www|http)/i.test(word) && !/\.(?:com|org|net|io|dev|de|fr)$/i.test(word);
  if (/[$]/.test(word)) return true;
  return /\p{Ll}\p{Lu}/u.test(word) && !/^\p{Lu}+s$/u.test(word) && !/^Mc|^Mac[A-Z]/.test(word);
}

/** @param text bounded by the caller */
export function namesIn(text: string): NamedQuestion {
  let prose = text.replaceAll(NAME_PLACE, ' ');
  const found: { readonly at: number; readonly name: QuestionName }[] = [];
  for (const { pattern, read, prose: written } of SOURCES) {
    prose = prose.replace(pattern, (...args: unknown[]) => {
      const groups = args.filter((arg): arg is string | undefined => typeof arg === 'string' || arg === undefined);
      const match = groups.slice(0, -1) as unknown as RegExpExecArray;
      const name = read(match);
      if (name && found.length < MAX_NAMES * 4) found.push({ at: text.indexOf(match[0].trim()), name });
      return written ? written(match) : ` ${NAME_PLACE} `;
    });
  }
  const ordered = found.toSorted((a, b) => a.at - b.at).map(({ name }) => name);
  const names = [...new Map(ordered.map((name) => [name.text, name])).values()].slice(0, MAX_NAMES);
  return { names, prose };
}
