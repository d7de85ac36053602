import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import satisfies from 'spdx-satisfies';
import { EMBEDDED_PARTS, type EmbeddedPart } from './embedded-parts.ts';

/** Licences that require only their text to be included. CC-BY-4.0 is the licence of VS Code's icons. */
export const PERMISSIVE = [
  '0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC-BY-4.0', 'CC0-1.0', 'ISC', 'MIT', 'Unlicense',
  'Zlib',
] as const;

/** Licence texts missing from their packages, and those of libraries inside binaries. */
const TEXTS = path.join(import.meta.dirname, 'texts');

/** Something would ship with a licence that is not permitted, or without its licence text. */
export class NoticesError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`What would ship may not, as it is:\n${problems.map((problem) => `- ${problem}`).join('\n')}`);
    this.name = 'NoticesError';
    this.problems = problems;
  }
}

export interface Notice {
  readonly name: string;
  /** Absent for libraries inside a binary. */
  readonly version?: string;
  readonly license: string;
  /** Explanation of a licence that is not permissive. */
  readonly accepted?: string;
  readonly text: string;
}

export interface ShippedParts {
  /** Folders of the installed packages that ship in part or whole. */
  readonly packages: readonly string[];
  /** Paths of the files that ship, with forward slashes. */
  readonly files: readonly string[];
  /** Default: the known embedded parts. */
  readonly embedded?: readonly EmbeddedPart[];
  /** Texts that their packages leave out, named as `textFileOf` says. Default: packaging/texts. */
  readonly texts?: string;
}

/**
 * The licences of all shipped third-party parts, with their texts.
 * @throws NoticesError with all problems: licences that are not permissive, or without text.
 */
export async function noticesOf({ packages, files, embedded = EMBEDDED_PARTS, texts = TEXTS }: ShippedParts): Promise<Notice[]> {
  const places = [...files, ...packages.map((folder) => folder.replaceAll('\\', '/'))];
  const held = embedded.filter(({ isIn }) => places.some((place) => isIn.test(place)));
  const notices = await Promise.all([
    ...packages.map((folder) => packageNotice(folder, texts)),
    ...held.map((part) => partNotice(part, texts)),
  ]);
  const problems: string[] = [];
  for (const { name, license, accepted, text } of notices) {
    if (accepted === undefined && !isPermissive(license)) {
      problems.push(`${name} is licensed as "${license}", which is not among ${PERMISSIVE.join(', ')}: take it out.`);
    }
    if (text.trim() === '') {
      problems.push(`${name} brings no text of its licence: put the one that is published into packaging/texts/${textFileOf(name)}.`);
    }
  }
  if (problems.length > 0) throw new NoticesError(problems);
  // The same version installed in two places counts once.
  const unlike = new Map(notices.map((notice) => [titleOf(notice), notice]));
  return [...unlike.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** @returns whether one of the choices that an SPDX expression leaves is permissive in all its parts. */
export function isPermissive(license: string): boolean {
  try {
    return satisfies(license, PERMISSIVE);
  } catch {
    return false;
  }
}

/** The file name of a text for a package without one: its name, with + for /. */
export const textFileOf = (name: string): string => `${name.replaceAll('/', '+')}.txt`;

/** @returns the contents of THIRD-PARTY-NOTICES.txt. */
export function writeNotices(notices: readonly Notice[]): string {
  const rule = '='.repeat(100);
  const contents = notices.map((notice) => `- ${titleOf(notice)}: ${notice.license}`);
  const sections = notices.map((notice) => {
    const heading = [titleOf(notice), notice.license, ...(notice.accepted ? [notice.accepted] : [])];
    return [rule, ...heading, rule, '', notice.text.trim(), ''].join('\n');
  });
  return [INTRODUCTION, '', ...contents, '', ...sections].join('\n');
}

const INTRODUCTION = 'Conductor holds the work of others. This file names it, and gives each licence as its authors wrote it.';

const titleOf = ({ name, version }: Notice): string => (version === undefined ? name : `${name} ${version}`);

async function partNotice({ name, license, accepted, text }: EmbeddedPart, texts: string): Promise<Notice> {
  return { name, license, ...(accepted !== undefined && { accepted }), text: await readText(path.join(texts, text)) };
}

const LICENSE_FILE = /^(licen[cs]e|copying|copyright|notices?|third-?party-?notices?)([-.]|$)/i;

async function packageNotice(folder: string, texts: string): Promise<Notice> {
  const { name, version, license } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as
    { name: string; version: string; license?: unknown };
  const files = (await readdir(folder)).filter((file) => LICENSE_FILE.test(file)).sort();
  const own = await Promise.all(files.map((file) => readText(path.join(folder, file))));
  const text = own.length > 0 ? own.join('\n\n') : await readText(path.join(texts, textFileOf(name)));
  return { name, version, license: typeof license === 'string' ? license : 'none', text };
}

/** Empty where there is none. */
async function readText(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
}
