import path from 'node:path';
import type { ProjectFolder } from './project-folder.ts';
import { folderAt, programUses, type ProgramUse } from './shell-words.ts';

/* `node test`: tests that run when a file is started. Which runner's they are, only the file tells, or one that it loads. */

/** Files that load files that load tests. */
const MAX_DEPTH = 2;
const MAX_FILES = 30;

const LOADS = /(?:^import\s*(?:[^'"\n]*\bfrom\s*)?|\brequire\(\s*|\bimport\(\s*)['"](\.\.?\/[^'"]*|\.\.?)['"]/gm;

/** The uses of Node in a command that start a file which has this text, or loads one that has. A `cd` before them is followed from `folder`. */
export async function startsOf(text: RegExp, command: string, folder: ProjectFolder): Promise<readonly ProgramUse[]> {
  const found: ProgramUse[] = [];
  for (const use of programUses(command, ['node'])) {
    const place = folderAt(command, use.program.start);
    for (const { text: word } of use.arguments.filter((argument) => !argument.text.startsWith('-'))) {
      if (!(await hasOrLoads(text, path.posix.join(place, word), folder))) continue;
      found.push(use);
      break;
    }
  }
  return found;
}

async function hasOrLoads(text: RegExp, started: string, folder: ProjectFolder): Promise<boolean> {
  const seen = new Set<string>();
  const has = async (file: string, depth: number): Promise<boolean> => {
    for (const name of [file, `${file}.js`, `${file}/index.js`]) {
      const source = seen.has(name) || seen.size >= MAX_FILES ? undefined : await folder.text(name);
      if (source === undefined) continue;
      seen.add(name);
      if (text.test(source)) return true;
      if (depth >= MAX_DEPTH) return false;
      for (const [, relative = ''] of source.matchAll(LOADS)) if (await has(path.posix.join(path.posix.dirname(name), relative), depth + 1)) return true;
      return false;
    }
    return false;
  };
  return await has(started.replace(/\/$/, ''), 0);
}

/** The part of a command that uses a program. */
export const partOf = ({ command: { words } }: ProgramUse, command: string): string => command.slice(words[0]?.start, words.at(-1)?.end);
