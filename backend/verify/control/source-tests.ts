import type { Language } from '../syntax/language.ts';
import type { Node } from '../syntax/parse.ts';
import { goTests } from './go-tests.ts';
import { javascriptTests } from './javascript-tests.ts';
import { javaTests } from './java-tests.ts';
import { phpTests } from './php-tests.ts';
import { pythonTests } from './python-tests.ts';
import { rubyTests } from './ruby-tests.ts';
import { rustTests } from './rust-tests.ts';
import type { ImportedTree, SourceFile, SourceTest } from './source-test.ts';

type TestReader = (root: Node, source: SourceFile, language: Language, imported: readonly ImportedTree[]) => readonly SourceTest[];

const READERS: Readonly<Record<Language, TestReader>> = {
  python: (root, source, _, imported) => pythonTests(root, source, imported),
  javascript: (root, source, _, imported) => javascriptTests(root, source, imported),
  typescript: (root, source, _, imported) => javascriptTests(root, source, imported),
  tsx: (root, source, _, imported) => javascriptTests(root, source, imported),
  go: goTests,
  rust: rustTests,
  java: javaTests,
  ruby: rubyTests,
  php: (root, source, _, imported) => phpTests(root, source, imported),
};

/** The tests that a source file contains. `imported`: files whose helpers it imports. */
export function testsIn(root: Node, language: Language, source: SourceFile, imported: readonly ImportedTree[] = []): readonly SourceTest[] {
  return READERS[language](root, source, language, imported);
}
