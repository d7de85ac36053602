import { findTestCommands, type FoundTests } from './find-tests.ts';
import { expandScripts } from './package-scripts.ts';
import { programUses, simpleCommands } from './shell-words.ts';
import { RUNNERS } from './runners.ts';

/* Commands that run the tests of each package of a monorepo, such as `turbo run test`. They tell of all packages by one exit code. */

const TEST_SCRIPT = /^(?:tests?|unit|spec)(?:$|[:_-])/;

/** Programs that start scripts of packages. */
const PROGRAMS = ['turbo', 'lerna', 'nx', 'wsrun', 'ultra', 'moon', 'lage'];

/** Options by which package managers run a script in each package, and yarn's words for it. */
const EACH: Readonly<Record<string, readonly string[]>> = {
  npm: ['-ws', '--workspaces'], pnpm: ['-r', '--recursive', 'recursive', 'm', 'multi'], yarn: ['workspaces', 'foreach'], bun: ['--filter=*', '--workspaces'],
};

/**
 * The tests of packages that a command runs, of which each can be judged by its own report. Empty for a command that a runner reads itself, and for one that is not
 * known to run the tests of packages. @param workspace absolute
 */
export async function testsRunBy(command: string, workspace: string): Promise<readonly FoundTests[]> {
  const expanded = await expandScripts(command, workspace);
  if (RUNNERS.some(({ understands }) => understands(expanded)) || !runsEachPackage(expanded)) return [];
  return (await findTestCommands(workspace)).filter(({ folder }) => folder !== '');
}

function runsEachPackage(command: string): boolean {
  const byProgram = programUses(command, PROGRAMS).some((use) => use.arguments.some(({ text }) => namesTests(text)));
  return byProgram || simpleCommands(command).some(({ words: [manager, ...words] }) => {
    const each = EACH[manager?.text ?? ''];
    return each !== undefined && words.some(({ text }) => each.includes(text)) && words.some(({ text }) => namesTests(text));
  });
}

/** `test`, `test:unit`, `--target=test`, and moon's `:test`. */
const namesTests = (word: string): boolean => TEST_SCRIPT.test(word.replace(/^--targets?=|^:/, ''));
