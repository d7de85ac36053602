import { expandScripts, testScripts } from './package-scripts.ts';
import type { ProjectFolder } from './project-folder.ts';
import { programUses, simpleCommands, type ProgramUse } from './shell-words.ts';

/** The uses of a program with tests among others things that it does, such as `bun test`. */
export const subcommandUses = (command: string, program: string, verb: string): readonly ProgramUse[] =>
  programUses(command, [program]).filter(({ arguments: [first] }) => first?.text === verb);

/** The scripts of the folder's `package.json` that run its tests with such a program. */
export async function scriptUses(folder: ProjectFolder, program: string, verb: string): Promise<readonly string[]> {
  const found = await folder.packageFile();
  const commands: string[] = [];
  for (const script of found ? testScripts(found) : []) {
    const command = `npm ${script === 'test' ? 'test' : `run ${script}`}`;
    const expanded = await expandScripts(command, folder.folder);
    if (subcommandUses(expanded, program, verb).length > 0) commands.push(simpleCommands(expanded).length === 1 ? expanded : command);
  }
  return commands;
}
