/** Languages that import in the same way, each with its file endings. */
export const FAMILY_ENDINGS = {
  script: ['ts', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs', 'cjs', 'vue', 'svelte'],
  python: ['py', 'pyi', 'pyx'],
  go: ['go'],
  rust: ['rs'],
  jvm: ['java', 'cs', 'kt', 'kts', 'scala', 'groovy', 'dart'],
  c: ['c', 'h', 'cc', 'cpp', 'cxx', 'hpp', 'hh', 'm', 'mm', 'cu'],
  ruby: ['rb', 'rake'],
  php: ['php'],
  swift: ['swift'],
  elixir: ['ex', 'exs'],
  lua: ['lua'],
  shell: ['sh', 'bash', 'zsh'],
  sql: ['sql'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type FamilyName = keyof typeof FAMILY_ENDINGS;

const BY_ENDING = new Map(Object.entries(FAMILY_ENDINGS).flatMap(([name, endings]) => endings.map((ending): [string, FamilyName] => [ending, name as FamilyName])));

/** The family of a file by its ending; undefined if it is none that imports. */
export function familyNameOf(file: string): FamilyName | undefined {
  return BY_ENDING.get(/\.(\w+)$/.exec(file)?.[1]?.toLowerCase() ?? '');
}
