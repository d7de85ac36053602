import path from 'node:path';
import { simpleCommands } from '../runners/shell-words.ts';
import type { ProjectFiles } from './project.ts';

/** The files of recipes that a program reads, the first that is there. */
const RECIPES: Readonly<Record<string, readonly string[]>> = {
  make: ['GNUmakefile', 'makefile', 'Makefile'],
  gmake: ['GNUmakefile', 'makefile', 'Makefile'],
  just: ['justfile', 'Justfile', '.justfile'],
};

/** `names:`, with what they depend on. Not `name := value`. */
const TARGET = /^@?([\w./%-][^:=\n]*)::?(?!=)[ \t]*([^=\n]*)$/;
const MAX_TARGETS = 200;
const SHELL_SCRIPT = /\.(?:sh|bash|zsh|bats)$/;

/**
 * The scripts that a command runs by `make` or `just`: those that stand in the recipes of its targets, and of what these depend on. A script
 * that such a script runs is not among them: it may be the product.
 * @returns paths as they are written, relative to `folder`, each with the file of its recipe
 */
export function scriptsInRecipes(program: string, options: readonly string[], folder: string, files: ProjectFiles): readonly { readonly script: string; readonly by: string }[] {
  const by = RECIPES[program]?.map((name) => path.posix.join(folder, name)).find((file) => files.paths.has(file));
  const text = by === undefined ? undefined : files.text(by);
  if (by === undefined || text === undefined) return [];
  const { recipes, first } = recipesIn(text);
  const named = options.filter((option) => recipes.has(option));
  const wanted = new Set(named.length > 0 || first === undefined ? named : [first]);
  const found = new Set<string>();
  for (const target of wanted) {
    for (const { needs, lines } of recipes.get(target) ?? []) {
      for (const need of needs) if (wanted.size < MAX_TARGETS) wanted.add(need);
      for (const line of lines) for (const script of scriptsOf(line)) found.add(script);
    }
  }
  return [...found].map((script) => ({ script, by }));
}

interface Recipe {
  readonly needs: readonly string[];
  readonly lines: string[];
}

function recipesIn(text: string): { readonly recipes: ReadonlyMap<string, readonly Recipe[]>; readonly first: string | undefined } {
  const recipes = new Map<string, Recipe[]>();
  let open: Recipe | undefined;
  for (const line of text.replaceAll(/\\\r?\n/g, ' ').split(/\r?\n/)) {
    if (/^[ \t]+\S/.test(line)) {
      open?.lines.push(line.trim().replace(/^[@+-]+/, ''));
      continue;
    }
    const [, names, needs = ''] = TARGET.exec(line) ?? [];
    if (names === undefined) {
      if (line.trim() !== '' && !line.startsWith('#')) open = undefined;
      continue;
    }
    open = { needs: wordsOf(needs.split('#')[0] ?? ''), lines: [] };
    for (const name of wordsOf(names)) recipes.set(name, [...(recipes.get(name) ?? []), open]);
  }
  return { recipes, first: [...recipes.keys()].find((name) => !name.startsWith('.')) };
}

const wordsOf = (text: string): readonly string[] => text.split(/[\s;]+/).filter((word) => word !== '');

/** `sh scripts/check.sh`, `./check`, also behind `cd` and variables. */
const scriptsOf = (line: string): readonly string[] =>
  simpleCommands(line).flatMap(({ words }) => words.flatMap(({ text }, index) => (SHELL_SCRIPT.test(text) || (index === 0 && text.startsWith('./')) ? [text] : [])));
