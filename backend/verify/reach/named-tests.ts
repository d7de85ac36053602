import path from 'node:path';
import type { TestRunnerName } from '../../protocol/test-runners.ts';
import type { ChosenRunner } from '../runners/choose-runner.ts';
import { programUses, simpleCommands, withEdits, type ProgramUse, type Word } from '../runners/shell-words.ts';
import { shellQuote } from '../sandbox/shell-quote.ts';

/** How some tests are run without the others. */
export interface SomeTests {
  readonly command: string;
  /** See `RunToPrepare`. */
  readonly only?: readonly string[];
}

/** How a runner is told which files or packages of tests to run. */
interface Naming {
  readonly programs: readonly string[];
  /** Words before the names. */
  readonly subcommands?: readonly string[];
  /** Written before the names. */
  readonly option?: string;
  /** Where an option after the names would go to the tests. */
  readonly last?: true;
}

const NAMINGS: Partial<Record<TestRunnerName, Naming>> = {
  'node-test': { programs: ['node'], last: true },
  'vitest': { programs: ['vitest'], subcommands: ['run', 'watch', 'dev'] },
  // Names are patterns otherwise.
  'jest': { programs: ['jest', 'react-scripts'], subcommands: ['test'], option: '--runTestsByPath' },
  'mocha': { programs: ['mocha', '_mocha', 'ts-mocha'] },
  'jasmine': { programs: ['jasmine', 'jasmine-ts'] },
  'ava': { programs: ['ava'] },
  'tape': { programs: ['tape'] },
  'pytest': { programs: ['pytest', 'py.test'] },
  'go': { programs: ['go'], subcommands: ['test'] },
};

const MAX_NAMES = 200;
/** Names with other signs could be read as patterns. */
const PLAIN_NAME = /^[\w@./~+ -]+$/;

/**
 * The command that runs only `wanted` of the files or packages `all` in which it runs tests, or undefined if it cannot be told to. Names
 * stand in the place of those that the command itself has.
 */
export function commandForTests(
  { runner, command }: Pick<ChosenRunner, 'runner' | 'command'>, { wanted, all }: { readonly wanted: ReadonlySet<string>; readonly all: ReadonlySet<string> },
): string | undefined {
  const naming = NAMINGS[runner.name];
  const [use, ...others] = naming ? programUses(command, naming.programs) : [];
  if (!naming || !use || others.length > 0) return undefined;
  // Names are relative to the folder in which the command was begun.
  if (simpleCommands(command).some(({ words }) => ['cd', 'pushd'].includes(words[0]?.text ?? ''))) return undefined;
  if (runner.name === 'node-test' && !use.arguments.some(({ text }) => text === '--test')) return undefined;
  const own = runner.name === 'go' ? packageWords(use).map((word) => ({ word, covered: [...all] })) : use.arguments.flatMap((word, index) => {
    if (index === 0 && naming.subcommands?.includes(word.text)) return [];
    const covered = coveredBy(word, all);
    return covered.length > 0 ? [{ word, covered }] : [];
  });
  if (use.arguments.some(({ text }) => /[$`]|::|^--?args$/.test(text)) || (runner.name === 'go' && own.length === 0)) return undefined;
  const possible = own.length === 0 ? all : new Set(own.flatMap(({ covered }) => covered));
  const names = [...wanted].sort();
  const canBeNamed = (name: string): boolean => possible.has(name) && PLAIN_NAME.test(name) && !name.startsWith('-');
  if (names.length === 0 || names.length > MAX_NAMES || !names.every(canBeNamed)) return undefined;
  const text = [...(naming.option === undefined ? [] : [naming.option]), ...names.map(shellQuote)].join(' ');
  const [first, ...more] = own;
  if (first) return withEdits(command, [{ ...first.word, text }, ...more.map(({ word }) => ({ ...word, text: '' }))]);
  const at = placeFor(use, naming);
  return withEdits(command, [{ start: at, end: at, text: ` ${text}` }]);
}

function placeFor({ program, command, arguments: words }: ProgramUse, { subcommands = [], last }: Naming): number {
  if (last) return command.words.at(-1)?.end ?? program.end;
  const [first] = words;
  return first && subcommands.includes(first.text) ? first.end : program.end;
}

/**
 * The words that name packages of Go, if one of them names several. They stand together, after options or before them. What ran is known, so it does not matter which
 * of them it was.
 */
function packageWords({ arguments: [, ...words] }: ProgramUse): readonly Word[] {
  const first = words.findIndex(({ text }) => !text.startsWith('-') && /^\.|\.\.\.$/.test(text));
  if (first < 0) return [];
  const end = words.findIndex(({ text }, index) => index > first && text.startsWith('-'));
  const named = words.slice(first, end < 0 ? undefined : end);
  return named.some(({ text }) => text.endsWith('...')) ? named : [];
}

/** The files that a word of a command names, by a path, a folder or a pattern. */
function coveredBy({ text }: Word, all: ReadonlySet<string>): readonly string[] {
  if (text === '' || text.startsWith('-')) return [];
  const name = path.posix.normalize(text).replace(/\/$/, '');
  return [...all].filter((file) => name === '.' || file === name || file.startsWith(`${name}/`) || path.posix.matchesGlob(file, name));
}
