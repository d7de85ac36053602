/** The languages whose syntax is read, by the names of their grammars, each with its file endings. `build.mjs` ships the grammars. */
const ENDINGS = {
  python: ['py'],
  javascript: ['js', 'mjs', 'cjs', 'jsx'],
  typescript: ['ts', 'mts', 'cts'],
  tsx: ['tsx'],
  go: ['go'],
  rust: ['rs'],
  java: ['java'],
  ruby: ['rb'],
  php: ['php'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Language = keyof typeof ENDINGS;

export const LANGUAGES = Object.keys(ENDINGS) as readonly Language[];

const BY_ENDING = new Map(LANGUAGES.flatMap((language) => ENDINGS[language].map((ending): [string, Language] => [ending, language])));

/** The language of a file by its ending, or undefined if its syntax is not read. */
export function languageOf(path: string): Language | undefined {
  return BY_ENDING.get(/\.([a-z]+)$/.exec(path)?.[1] ?? '');
}
