import { languageOf } from '../syntax/language.ts';
import { withTree } from '../syntax/parse.ts';
import { readSource } from './alter-expectations.ts';
import { locateTests } from './locate-tests.ts';
import { testsIn } from './source-tests.ts';
import { testsNamed } from './tests-named.ts';
import type { TestsToAlter } from './tests-to-alter.ts';

/** Returns the given tests whose source declares them skipped. */
export async function declaredSkips(tests: TestsToAlter): Promise<ReadonlySet<string>> {
  const skipped = new Set<string>();
  for (const { file, wanted } of await locateTests(tests)) {
    const language = languageOf(file);
    const source = await readSource(tests, file);
    if (!language || !source) continue;
    await withTree(source.text, language, (root) => {
      const all = testsIn(root, language, source);
      for (const [id, name] of wanted) {
        const found = testsNamed(all, name);
        if (found.length > 0 && found.every(({ isSkipped }) => isSkipped)) skipped.add(id);
      }
    });
  }
  return skipped;
}
