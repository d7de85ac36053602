/** The languages whose syntax is read, by the names of their grammars. `build.mjs` ships those. */
export const LANGUAGES = ['python', 'javascript', 'typescript', 'tsx', 'go', 'rust', 'java'] as const;

export type Language = (typeof LANGUAGES)[number];

const BY_ENDING: Readonly<Record<string, Language>> = {
  py: 'python',
  js: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  jsx: 'javascript',
  ts: 'typescript',
  mts: 'typescript',
  cts: 'typescript',
  tsx: 'tsx',
  go: 'go',
  rs: 'rust',
  java: 'java',
};

/** The language of a file by the end of its name, or undefined where its syntax is not read. */
export function languageOf(path: string): Language | undefined {
  const ending = /\.([a-z]+)$/.exec(path)?.[1] ?? '';
  return Object.hasOwn(BY_ENDING, ending) ? BY_ENDING[ending] : undefined;
}
