import { extensionOf } from './file-names.ts';
import { kindOf } from './search/path-kind.ts';

const ENDINGS: Readonly<Record<string, string>> = {
  'TypeScript': 'ts mts cts tsx', 'JavaScript': 'js mjs cjs jsx', 'Python': 'py pyi', 'Go': 'go', 'Rust': 'rs', 'Java': 'java', 'Kotlin': 'kt kts',
  'Scala': 'scala', 'Groovy': 'groovy', 'C#': 'cs', 'F#': 'fs', 'C': 'c h', 'C++': 'cc cpp cxx hh hpp hxx', 'Objective-C': 'm mm', 'Swift': 'swift', 'Dart': 'dart',
  'Ruby': 'rb', 'PHP': 'php', 'Lua': 'lua', 'Elixir': 'ex exs', 'Erlang': 'erl', 'Haskell': 'hs', 'OCaml': 'ml mli', 'Clojure': 'clj cljs', 'R': 'r',
  'Julia': 'jl', 'Zig': 'zig', 'Vue': 'vue', 'Svelte': 'svelte', 'shell': 'sh bash', 'SQL': 'sql',
};
const LANGUAGE_OF = new Map(Object.entries(ENDINGS).flatMap(([language, endings]) => endings.split(' ').map((ending) => [ending, language] as const)));

/** Of more files, every n-th says as much. */
const MOST_FILES = 2_000;
const MOST_LANGUAGES = 3;
/** A language with a smaller share of the files is not what the project is written in. */
const LEAST_SHARE = 0.1;

/** The main programming languages of a project, by the number of its source and test files; the most frequent first. @param files sorted paths */
export function languagesOf(files: readonly string[]): string[] {
  const apart = Math.max(1, Math.ceil(files.length / MOST_FILES));
  const counts = new Map<string, number>();
  for (let index = 0; index < files.length; index += apart) {
    const file = files[index] as string;
    const language = LANGUAGE_OF.get(extensionOf(file));
    if (language === undefined || !['source', 'test'].includes(kindOf(file))) continue;
    counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return [...counts].filter(([, count]) => count >= total * LEAST_SHARE).sort(([a, x], [b, y]) => y - x || a.localeCompare(b, 'en'))
    .slice(0, MOST_LANGUAGES).map(([language]) => language);
}
