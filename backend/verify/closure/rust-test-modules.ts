import { baseOf, folderOf, stemOf, type ProjectFiles } from './project.ts';

const DECLARATION = /((?:#\[[^\n]{0,300}\]\s*)*)(?:pub(?:\([^)]{0,40}\))?\s+)?mod\s+(\w{1,80})\s*;/g;
const FOR_TESTS = /#\[\s*cfg\s*\((?![^\]]*\bnot\s*\(\s*test\s*\))[^\]]*\btest\b/;
const MAX_DEPTH = 20;

/** The file that declares this module of Rust, or one around it, for tests only: `#[cfg(test)] mod checks;`. Undefined if none does. */
export function isCompiledForTestsOnly(file: string, files: ProjectFiles): string | undefined {
  let current = file;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const name = baseOf(current) === 'mod.rs' ? baseOf(folderOf(current)) : stemOf(current);
    const around = baseOf(current) === 'mod.rs' ? folderOf(folderOf(current)) : folderOf(current);
    const parents = ['lib.rs', 'main.rs', 'mod.rs'].map((base) => (around === '' ? base : `${around}/${base}`));
    const parent = [...parents, `${around}.rs`].find((one) => one !== current && declarationOf(one, name, baseOf(current), files) !== undefined);
    if (parent === undefined) return undefined;
    if (FOR_TESTS.test(declarationOf(parent, name, baseOf(current), files) ?? '')) return parent;
    current = parent;
  }
  return undefined;
}

/** The attributes of the declaration; undefined if the file does not declare the module. */
function declarationOf(file: string, name: string, base: string, { text }: ProjectFiles): string | undefined {
  for (const [, attributes = '', declared] of (text(file) ?? '').matchAll(DECLARATION))
    if (declared === name || attributes.includes(`"${base}"`)) return attributes;
  return undefined;
}
