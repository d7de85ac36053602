import { shellWord } from '../sandbox/shell-quote.ts';
import type { PackageFile } from './project-folder.ts';
import type { SimpleCommand, Word } from './shell-words.ts';

/** Programs that start Node's own test runner by another name. */
export const NODE_TEST_ALIASES: readonly string[] = ['bnt', 'tsx', 'glob'];

/** What such a program runs. Undefined for any other use, and for options that are not known. */
export function nodeTestAlias({ words: [program, ...words] }: SimpleCommand, manifest: PackageFile, command: string): string | undefined {
  const end = words.at(-1)?.end;
  if (program?.text === 'bnt') return betterNodeTest(words, manifest);
  if (program?.text === 'tsx' && words.some(({ text }) => text === '--test')) return `node --import tsx ${command.slice(words[0]?.start, end)}`;
  // It hands the files to a program; without one, it prints them.
  const [option, started, first] = words;
  if (program?.text !== 'glob' || !option || !started || !first || !['-c', '--cmd'].includes(option.text)) return undefined;
  return /^(?:node|tsx)\s(?:.*\s)?--test$/.test(started.text) ? `${started.text} $(glob ${command.slice(first.start, end)})` : undefined;
}

/** Node 20 takes no patterns. */
const TEST_FILES = "$(find . -name node_modules -prune -o -name .git -prune -o -type f '(' -name '*.test.[jt]s' -o -name '*.spec.[jt]s' ')' -print)";

/** The package better-node-test. Coverage is left out: it takes time, and fails below a threshold. */
function betterNodeTest(words: readonly Word[], { dependencies, devDependencies }: PackageFile): string | undefined {
  const options: string[] = [];
  const files: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const text = words[index]?.text ?? '';
    if (text === '-t') options.push(shellWord(`--test-name-pattern=${words[(index += 1)]?.text ?? ''}`));
    else if (/^--coverage(?:-include|-exclude)?$/.test(text)) index += 1;
    else if (text.startsWith('-')) return undefined;
    else files.push(shellWord(text));
  }
  const loads = 'tsx' in dependencies || 'tsx' in devDependencies ? '--import tsx' : '--experimental-strip-types';
  return ['NODE_ENV=test node --test', loads, ...options, ...(files.length > 0 ? files : [TEST_FILES])].join(' ');
}
