import { familyNameOf } from '../../common/imports/language-families.ts';
import { belongsToTests, folderOf, isConftest, stemOf, type ProjectFiles } from './project.ts';

/** Files that only support tests, inside of their folder. */
const SUPPORT = /(?:^|\/)(?:helpers?|support|utils?|fixtures?|lib|common|data|mocks?|__mocks__)\//i;
/** Names of files that stand for their folder. */
const FOR_FOLDER = /^(?:index|__init__|__main__|mod|lib|main)$/;

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/**
 * Says whether there are tests of a file itself, by their name: `test_testing.py` of `testing.py`, `routing/params.test.js` of
 * `params/index.js`. Then it is under test, even if nothing else uses it.
 */
export function testedByName({ paths }: ProjectFiles): (file: string) => boolean {
  const names = new Set<string>();
  const goFolders = new Set<string>();
  for (const path of paths) {
    if (familyNameOf(path) === undefined || isConftest(path) || !belongsToTests(path)) continue;
    if (path.endsWith('_test.go')) goFolders.add(folderOf(path));
    const inside = path.replace(/^.*?(?:^|\/)(?:tests?|__tests__|specs?)\//, '');
    if (SUPPORT.test(inside) && !/(?:^|[/._-])(?:tests?|spec)[._-]|[._-](?:tests?|spec)\./.test(inside)) continue;
    names.add(plain(stemOf(path).replace(/[._-](?:tests?|spec)$|^tests?[._-]|(?:Tests?|Spec|IT)$/, '')));
  }
  return (file) => {
    if (file.endsWith('.go')) return goFolders.has(folderOf(file));
    const folder = folderOf(file).split('/').at(-1) ?? '';
    const own = FOR_FOLDER.test(stemOf(file)) ? folder : stemOf(file);
    return [own, `${folder}${own}`].some((name) => names.has(plain(name)));
  };
}
