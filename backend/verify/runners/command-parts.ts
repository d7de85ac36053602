import { programUses, simpleCommands, type SimpleCommand } from './shell-words.ts';

/** A test command, taken apart: `pretest && lint && tests && types`. */
export interface CommandParts {
  /** What is run for a report: what prepares the tests, and then the tests, whatever the preparation ended with. */
  readonly tests: string;
  /** Whether the runner is started once, and last: when its report has ended, nothing is left to do. */
  readonly endsWithTests: boolean;
  /** What prepares the tests, by itself; undefined if nothing does. */
  readonly preparation?: string;
  /** What else the command does: linters, type checkers, and what comes after the tests. Each is a command line for the same folder. */
  readonly checks: readonly string[];
}

/** Programs that look at sources and write nothing that tests need. */
const CHECKERS = new Set([
  ...['eslint', 'xo', 'standard', 'ts-standard', 'semistandard', 'oxlint', 'biome', 'tslint', 'jshint', 'jscs', 'stylelint', 'prettier'],
  ...['prettierx', 'dprint', 'oxfmt', 'markdownlint', 'markdownlint-cli2', 'remark', 'cspell', 'alex', 'ls-lint', 'eclint', 'editorconfig-checker'],
  ...['tsd', 'dtslint', 'tstyche', 'attw', 'publint', 'knip', 'depcheck', 'dependency-check', 'madge', 'dpdm', 'size-limit', 'bundlesize'],
  ...['flow', 'evalmd', 'lockfile-lint', 'secretlint', 'commitlint', 'sort-package-json', 'syncpack', 'manypkg', 'installed-check'],
  ...['ruff', 'flake8', 'pylint', 'mypy', 'pyright', 'black', 'isort', 'bandit', 'golangci-lint', 'staticcheck'],
  ...['phpcs', 'php-cs-fixer', 'phpstan', 'psalm', 'phan', 'phpmd', 'parallel-lint', 'ecs', 'pint', 'rector', 'composer-normalize'],
]);

/**
 * Takes a command line apart at `&&` and `;`. What `isTests` finds is run for the report, the first such part alone unless the runner can
 * report `several`. A linter before it is a check, and anything else there prepares it. A line with alternatives or in parentheses as a
 * whole is left as it is.
 */
export function commandParts(command: string, isTests: (part: string) => boolean, several: boolean): CommandParts {
  const whole: CommandParts = { tests: command, endsWithTests: simpleCommands(command).length === 1, checks: [] };
  const texts = partsOf(command);
  if (texts === undefined) return whole;
  const places = texts.flatMap((text, index) => (isTests(text) ? [index] : []));
  const tests = several ? places : places.slice(0, 1);
  const last = tests.at(-1);
  if (last === undefined) return whole;

  const kept: string[] = [];
  const checks: string[] = [];
  /** `cd` and variables hold for all that follows. */
  const state: string[] = [];
  const preparing: string[] = [];
  for (const [index, text] of texts.entries()) {
    if (changesState(text)) {
      state.push(text);
      if (index < last) kept.push(text);
    } else if (tests.includes(index)) {
      kept.push(index < last ? remembering(text) : kept.some((part) => part.endsWith(REMEMBERED)) ? `${text} && (exit \${conductor_failed:-0})` : text);
    } else if (index > last || isCheck(text) || places.includes(index)) checks.push([...state, text].join(' && '));
    else {
      kept.push(remembering(text));
      preparing.push([...state, text].join(' && '));
    }
  }
  return { tests: kept.map((text, index) => (index === kept.length - 1 ? text : `${text}${changesState(text) ? ' && ' : '; '}`)).join(''), endsWithTests: tests.length === 1, checks, ...(preparing.length > 0 && { preparation: preparing.join(' && ') }) };
}

/** What follows runs all the same, and the whole fails at its end. */
const REMEMBERED = ' || conductor_failed=$?';
const remembering = (part: string): string => part + REMEMBERED;

/** Words of statements that hold together, whatever stands between them. */
const OF_THE_SHELL = /^(?:if|for|while|until|case|\{)$/;

/** The parts between `&&` and `;` outside of parentheses. Undefined if the line has alternatives, background jobs or statements of the shell. */
function partsOf(command: string): readonly string[] | undefined {
  const commands = simpleCommands(command);
  if (commands.some(({ words }) => OF_THE_SHELL.test(words[0]?.text ?? ''))) return undefined;
  const parts: string[] = [];
  let start = 0;
  let depth = 0;
  const ends = commands.map(({ assignments, words }) => ({
    from: Math.min(...[...assignments, ...words].map((word) => word.start)),
    to: Math.max(...[...assignments, ...words].map((word) => word.end)),
  }));
  for (const [index, { to }] of ends.entries()) {
    const gap = command.slice(to, ends[index + 1]?.from);
    const before = index === 0 ? command.slice(0, ends[0]?.from) : '';
    for (const character of before) if (character === '(') depth += 1;
    const signs = gap.replaceAll(/\d?>&\d?|&>/g, (text) => ' '.repeat(text.length));
    for (let at = 0; at < signs.length; at += 1) {
      const sign = signs[at] ?? '';
      if (sign === '(') depth += 1;
      else if (sign === ')') depth -= 1;
      else if (depth > 0) continue;
      else if (signs.startsWith('&&', at) || sign === ';' || sign === '\n') {
        parts.push(command.slice(start, to + at));
        if (sign === '&') at += 1;
        start = to + at + 1;
      } else if (sign === '&' || signs.startsWith('||', at)) return undefined;
    }
  }
  parts.push(command.slice(start));
  return depth === 0 ? parts.map((part) => part.trim()).filter((part) => part !== '') : undefined;
}

function changesState(part: string): boolean {
  const [only, ...others] = simpleCommands(part);
  if (only === undefined || others.length > 0 || /^\s*\(/.test(part)) return false;
  return ['cd', 'export', 'set', 'unset', '.', 'source'].includes(only.words[0]?.text ?? '') || only.words.length === 0;
}

/** Whether each program of a part only looks at sources. */
function isCheck(part: string): boolean {
  const commands = simpleCommands(part).filter(({ words }) => words.length > 0);
  return commands.length > 0 && commands.every((command) => isChecker(command) || ['cd', 'cat', 'git', 'xargs', 'find', 'grep', 'echo', 'true', 'ls'].includes(command.words[0]?.text ?? ''))
    && commands.some(isChecker);
}

function isChecker(command: SimpleCommand): boolean {
  const texts = command.words.map(({ text }) => text);
  const line = texts.map((text) => (/^[\w./@:=-]+$/.test(text) ? text : "''")).join(' ');
  if (programUses(line, [...CHECKERS]).length > 0) return true;
  const compiles = programUses(line, ['tsc', 'vue-tsc', 'tsgo']).length > 0;
  if (compiles) return texts.includes('--noEmit');
  const [first, second] = texts;
  return (first === 'npm' && second === 'audit') || (first === 'go' && second === 'vet') || (first === 'cargo' && ['clippy', 'fmt'].includes(second ?? ''));
}
