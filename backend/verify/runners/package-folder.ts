import path from 'node:path';
import { packageNameIn } from '../../common/imports/package-names.ts';
import { ProjectFolder } from './project-folder.ts';
import type { SimpleCommand } from './shell-words.ts';

/** Options that say in which folder, or in which package, a package manager runs a script; and yarn's word for the latter. */
const PLACES: Readonly<Record<string, { readonly folder: readonly string[]; readonly package: readonly string[] }>> = {
  npm: { folder: ['--prefix', '-C'], package: ['-w', '--workspace'] },
  pnpm: { folder: ['-C', '--dir'], package: ['-F', '--filter'] },
  yarn: { folder: ['--cwd'], package: ['workspace'] },
};

/** `npm --prefix web test`, `yarn workspace shop unit`: the same, in its folder. Undefined if a use names none, or more than one. */
export async function inItsFolder({ words }: SimpleCommand, folder: string, command: string): Promise<string | undefined> {
  const [manager] = words;
  const places = PLACES[manager?.text ?? ''];
  const dashes = words.findIndex(({ text }) => text === '--');
  const own = places ? words.slice(0, dashes < 0 ? undefined : dashes) : [];
  const isPlace = (text: string, kind: 'folder' | 'package'): boolean => places?.[kind].includes(text.split('=', 1)[0] ?? '') === true;
  const found = own.filter(({ text }) => isPlace(text, 'folder') || isPlace(text, 'package'));
  const [option] = found;
  if (!manager || !option || found.length > 1) return undefined;
  const isJoined = option.text.includes('=');
  const value = isJoined ? { ...option, text: option.text.slice(option.text.indexOf('=') + 1) } : words[words.indexOf(option) + 1];
  if (value === undefined) return undefined;
  const where = isPlace(option.text, 'folder') ? value.text : await folderOfPackage(value.text, folder);
  if (where === undefined || !/^[\w./@-]+$/.test(where)) return undefined;
  const rest = [command.slice(manager.start, option.start).trim(), command.slice(value.end, words.at(-1)?.end).trim()].join(' ');
  return `cd ${where} && ${rest.trim()}`;
}

/** The folder of a package that a package manager knows by its name or its folder, relative to `folder` (absolute). Undefined for a pattern, and if there is none. */
async function folderOfPackage(name: string, folder: string): Promise<string | undefined> {
  if (!/^[\w@./-]+$/.test(name) || name.includes('...')) return undefined;
  const project = new ProjectFolder(folder);
  const direct = path.posix.normalize(name);
  if (!direct.startsWith('..') && !path.isAbsolute(direct) && (await project.text(path.posix.join(direct, 'package.json'))) !== undefined) return direct.replace(/\/$/, '');
  for (const file of await project.filesNamed(/(?:^|\/)package\.json$/))
    if (packageNameIn(file, (await project.text(file)) ?? '') === name) return path.posix.dirname(file);
  return undefined;
}
