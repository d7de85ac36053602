import type { Language } from '../syntax/language.ts';
import type { Node } from '../syntax/parse.ts';
import { goTests } from './go-tests.ts';
import { javascriptTests } from './javascript-tests.ts';
import { javaTests } from './java-tests.ts';
import { pythonTests } from './python-tests.ts';
import { rustTests } from './rust-tests.ts';
import type { SourceFile, SourceTest } from './source-test.ts';

/** The tests that are written into a file. */
export function testsIn(root: Node, language: Language, source: SourceFile): readonly SourceTest[] {
  switch (language) {
    case 'python':
      return pythonTests(root, source);
    case 'javascript':
    case 'typescript':
    case 'tsx':
      return javascriptTests(root, language, source);
    case 'go':
      return goTests(root, source);
    case 'rust':
      return rustTests(root, source);
    case 'java':
      return javaTests(root, source);
  }
}
