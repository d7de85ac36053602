import type { Language } from '../syntax/language.ts';
import type { Node } from '../syntax/parse.ts';
import { pythonTests } from './python-tests.ts';
import type { SourceFile, SourceTest } from './source-test.ts';

/** The tests that are written into a file. */
export function testsIn(root: Node, language: Language, source: SourceFile): readonly SourceTest[] {
  switch (language) {
    case 'python':
      return pythonTests(root, source);
    case 'javascript':
    case 'typescript':
    case 'tsx':
    case 'go':
    case 'rust':
    case 'java':
      return [];
  }
}
