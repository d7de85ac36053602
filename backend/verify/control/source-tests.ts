import type { Language } from '../syntax/language.ts';
import type { Node } from '../syntax/parse.ts';
import { goTests } from './go-tests.ts';
import { javascriptTests } from './javascript-tests.ts';
import { javaTests } from './java-tests.ts';
import { pythonTests } from './python-tests.ts';
import { rustTests } from './rust-tests.ts';
import type { SourceFile, SourceTest } from './source-test.ts';

type TestReader = (root: Node, source: SourceFile, language: Language) => readonly SourceTest[];

const READERS: Readonly<Record<Language, TestReader>> = {
  python: pythonTests,
  javascript: javascriptTests,
  typescript: javascriptTests,
  tsx: javascriptTests,
  go: goTests,
  rust: rustTests,
  java: javaTests,
};

/** The tests that a source file contains. */
export function testsIn(root: Node, language: Language, source: SourceFile): readonly SourceTest[] {
  return READERS[language](root, source, language);
}
