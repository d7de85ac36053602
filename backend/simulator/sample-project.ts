import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BUGS, FAMILIES, type Bug } from './families/all-families.ts';
import { sourceWith, type Family } from './families/family.ts';
import { KeyedRandom } from '../common/keyed-random.ts';

/** Number of modules besides the one with the bug. */
const OTHER_MODULES = 4;

export interface SampleProject {
  /** The user's question. */
  readonly question: string;
  /** The family of the module with the bug. */
  readonly family: string;
  /** The planted variant's id. */
  readonly bug: string;
  /** The file with the bug and the one with its tests, relative to the project. */
  readonly path: string;
  readonly testPath: string;
  /** The correct module. */
  readonly correctSource: string;
  readonly testCommand: string;
}

export interface SampleProjectOptions {
  /** A whole number. Consecutive seeds give different bugs until all are used. */
  readonly seed: number;
}

/** The bug selected by a seed. */
export function bugOf(seed: number): Bug {
  const index = ((Math.trunc(seed) % BUGS.length) + BUGS.length) % BUGS.length;
  return BUGS[index] as Bug;
}

/** The question for a seed's bug, in one of several phrasings. */
export function questionOf(seed: number): string {
  const random = new KeyedRandom('question', seed);
  const { variant } = bugOf(seed);
  const symptom = random.pick('symptom', variant.symptoms) ?? variant.diagnosis;
  return random.pick('phrasing', PHRASINGS)(symptom);
}

const PHRASINGS: readonly [(symptom: string) => string, ...((symptom: string) => string)[]] = [
  (symptom) => `${symptom} What is wrong, and can you fix it?`,
  (symptom) => `${symptom} Please find the cause and correct it without breaking anything else.`,
  (symptom) => `Something is off here. ${symptom} How should the code be changed?`,
  (symptom) => `Some of our tests fail. ${symptom} Please mend it.`,
  (symptom) => `A user reports: ${symptom} Can you repair that?`,
];

/**
 * Writes a small JavaScript project with tests and one planted bug. Creates the folder if needed. Equal seeds write equal files.
 */
export async function writeSampleProject(directory: string, { seed }: SampleProjectOptions): Promise<SampleProject> {
  const { family, variant } = bugOf(seed);
  const others = new KeyedRandom('modules', seed).shuffled(
    'others',
    FAMILIES.filter((other) => other !== family),
  );
  const modules = [family, ...others.slice(0, OTHER_MODULES)].sort((a, b) => (a.name < b.name ? -1 : 1));

  await mkdir(path.join(directory, 'src'), { recursive: true });
  await mkdir(path.join(directory, 'test'), { recursive: true });
  const write = (file: string, text: string): Promise<void> => writeFile(path.join(directory, file), text);
  await write('package.json', PACKAGE);
  await write('README.md', readmeOf(modules));
  for (const module of modules) {
    await write(module.path, (module === family ? sourceWith(family, [variant]) : undefined) ?? module.source);
    await write(module.testPath, module.test);
  }
  return {
    question: questionOf(seed),
    family: family.name,
    bug: variant.id,
    path: family.path,
    testPath: family.testPath,
    correctSource: family.source,
    testCommand: 'npm test',
  };
}

const PACKAGE = `${JSON.stringify(
  { name: 'sample-project', version: '1.0.0', private: true, type: 'module', scripts: { test: 'node --test' } },
  null,
  2,
)}\n`;

function readmeOf(modules: readonly Family[]): string {
  return [
    '# Sample project',
    '',
    'A few small modules with their tests, written by the demo of Conductor. One of them has a bug.',
    '',
    ...modules.map(({ path: file, summary }) => `- \`${file}\` ${summary}`),
    '',
    'Run the tests with `npm test`. They need Node 20 or later and nothing else.',
    '',
  ].join('\n');
}
