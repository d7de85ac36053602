import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { LikelyCommand } from '../../protocol/test-command.ts';
import { CUSTOM_RUNNER, EXIT_CODE_RUNNER, TEST_RUNNERS } from '../../protocol/test-runners.ts';
import { PEST } from './phpunit.ts';
import { ProjectFolder } from './project-folder.ts';

/** More would be no choice. */
const OFFERED = 2;
const MAX_WORKFLOWS = 20;
const MAX_CHARACTERS = 200;

/** What is said to test something: `test`, `unit-tests`, `check`. Not `latest`, and nothing that tests elsewhere or without end. */
const NAMES_TESTS = /(?:^|[^a-z])(?:tests?|check|specs?|unit)(?:$|[^a-z])/i;
const OTHER_THAN_TESTS = /watch|cover|debug|deploy|publish|install|lint|format|fmt|type-?check|e2e|update|clean/i;

/** Programs of the shell and of its surroundings, and its own words. */
const RUNS_NO_TESTS = /^(?:echo|printf|cd|mkdir|cp|mv|rm|cat|ls|git|curl|if|for|while|fi|done|else|export)\b/;

const isTest = (name: string): boolean => NAMES_TESTS.test(name) && !OTHER_THAN_TESTS.test(name);
/** Names with `test` come before the others. */
const byLikeness = (a: string, b: string): number => rank(a) - rank(b);
const rank = (name: string): number => (name === 'test' || name === 'tests' ? 0 : /test/i.test(name) ? 1 : 2);

type Source = (folder: ProjectFolder) => Promise<readonly LikelyCommand[]>;

const scripts: Source = async (folder) => {
  const all = Object.entries((await folder.packageFile())?.scripts ?? {}).filter(([name, text]) => isTest(name) && !/no test specified/.test(text));
  return all.map(([name]) => name).sort(byLikeness).map((name) => ({ command: name === 'test' ? 'npm test' : `npm run ${name}`, from: 'package.json' }));
};

/** The targets of a file in which each begins a line, as `pattern` captures them. */
const targets = (program: string, files: readonly string[], pattern: RegExp): Source => async (folder) => {
  for (const from of files) {
    const names = [...((await folder.text(from)) ?? '').matchAll(pattern)].map(([, name = '']) => name).filter(isTest);
    if (names.length > 0) return [...new Set(names)].sort(byLikeness).map((name) => ({ command: `${program} ${name}`, from }));
  }
  return [];
};

/** A file that is there only for a tool that runs tests. */
const file = (from: string, command: string, text = /(?:)/): Source => async (folder) => (text.test((await folder.text(from)) ?? '\0') && (await folder.has(from)) ? [{ command, from }] : []);

/** A file whose name every project chooses itself. */
const fileLike = (name: RegExp, command: string): Source => async (folder) => {
  const [from] = (await readdir(folder.folder).catch(() => [])).filter((each) => name.test(each)).sort();
  return from === undefined ? [] : [{ command, from }];
};

/** Lines of shell in GitHub's workflows that look like tests: `run: make check`, and those of a block. Without what GitHub puts in. */
const workflows: Source = async (folder) => {
  const place = '.github/workflows';
  const names = (await readdir(path.join(folder.folder, place)).catch(() => [])).filter((name) => /\.ya?ml$/.test(name)).sort().slice(0, MAX_WORKFLOWS);
  const found: LikelyCommand[] = [];
  for (const name of names) {
    for (const command of shellLines((await folder.text(`${place}/${name}`)) ?? '')) {
      if (command.length <= MAX_CHARACTERS && isTest(command) && !RUNS_NO_TESTS.test(command) && !command.includes('${{') && (await isThere(command, folder))) found.push({ command, from: `${place}/${name}` });
    }
  }
  return found;
};

/** A step may run what an earlier one has built, in a folder of its own: `./tests`. */
async function isThere(command: string, { folder }: ProjectFolder): Promise<boolean> {
  const [, program] = /^(\.{1,2}\/\S+)/.exec(command) ?? [];
  return program === undefined || (await stat(path.join(folder, program)).then((found) => found.isFile(), () => false));
}

function* shellLines(text: string): Generator<string> {
  let block: number | undefined;
  for (const line of text.split('\n')) {
    const depth = line.search(/\S/);
    if (block !== undefined && depth >= 0 && depth <= block) block = undefined;
    const [, one] = /^\s*(?:-\s+)?run:\s*(.*)$/.exec(line) ?? [];
    if (one !== undefined && /^[|>][-+]?\s*$/.test(one)) block = depth;
    else if (one !== undefined) yield one.trim().replace(/^(["'])(.*)\1$/, '$2');
    else if (block !== undefined && depth >= 0 && !line.trim().startsWith('#')) yield line.trim();
  }
}

/** In the order in which they are believed: what a person types first, what a machine runs last. */
const SOURCES: readonly Source[] = [
  scripts,
  targets('make', ['GNUmakefile', 'makefile', 'Makefile'], /^([\w.-]+)[ \t]*:(?!=)/gm),
  targets('just', ['justfile', 'Justfile', '.justfile'], /^@?([\w-]+)(?:[ \t][^:\n]*)?:(?!=)/gm),
  targets('task', ['Taskfile.yml', 'Taskfile.yaml'], /^ {2,4}([\w:.-]+):[ \t]*$/gm),
  file('tox.ini', 'tox'),
  file('noxfile.py', 'nox'),
  file('pyproject.toml', 'hatch test', /^\[tool\.hatch\.envs\./m),
  file('Rakefile', 'rake test', /TestTask|RSpec/),
  file('composer.json', 'vendor/bin/pest', PEST),
  file('mix.exs', 'mix test'),
  fileLike(/\.(?:sln|slnx|[cf]sproj)$/, 'dotnet test'),
  file('build.sbt', 'sbt test'),
  file('Package.swift', 'swift test'),
  file('pubspec.yaml', 'dart test'),
  fileLike(/\.cabal$/, 'cabal test'),
  file('meson.build', 'meson setup conductor-build && meson test -C conductor-build'),
  file('configure.ac', 'autoreconf -fi && ./configure && make check'),
  workflows,
];

/**
 * The two commands that most likely run the tests of a workspace (absolute) whose tests none of the runners has found. They are offered to
 * people, and never run by themselves. Reads files only.
 */
export async function likelyCommands(workspace: string): Promise<readonly LikelyCommand[]> {
  const folder = new ProjectFolder(workspace);
  const found = (await Promise.all(SOURCES.map((source) => source(folder)))).flat();
  return found.filter(({ command }, index) => found.findIndex((other) => other.command === command) === index).slice(0, OFFERED);
}

/** A sentence for where no test command was found: what was looked for. */
export function whatWasLookedFor(runner?: string): string {
  return `Scripts and files of ${runner ?? TEST_RUNNERS.filter((name) => name !== CUSTOM_RUNNER && name !== EXIT_CODE_RUNNER).join(', ')} were looked for.`;
}
