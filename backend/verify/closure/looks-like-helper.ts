import { familyNameOf } from '../../common/imports/language-families.ts';
import { importsIn } from '../../common/imports/imports-in.ts';

/*
 * A library's own modules are often imported by its tests alone. What tells a helper of tests from them: its name, what it is made with, or how
 * the tests use it.
 */

const WORDS = /^(?:test(?:s|ing|er|ed|util|utils|helper|helpers|kit|lib|support|case|cases|data)?|specs?|fixtures?|mocks?|stubs?|fakes?|factor(?:y|ies)|assert(?:s|ion|ions)?|expect(?:s|ed|ation|ations)?|match(?:er|ers)|check(?:s|er|ers)?|verif(?:y|ier)|helpers?|support|harness|golden|same|equal(?:s|ity)?)$/;
const FRAMEWORKS = new Set([
  ...['assert', 'node:assert', 'assert/strict', 'node:assert/strict', 'node:test', 'vitest', 'chai', 'expect', 'should', 'sinon', 'ava', 'tap', 'tape', 'expect.js', 'power-assert'],
  ...['@jest/globals', '@jest/expect', '@vitest/expect', 'jest-matcher-utils', 'uvu', 'uvu/assert', 'bun:test'],
  ...['pytest', 'unittest', 'hypothesis', 'nose', 'doctest', 'testing', 'github.com/google/go-cmp/cmp', 'gotest.tools/v3/assert'],
]);
const FRAMEWORK = /^(?:@testing-library\/|github\.com\/(?:stretchr\/testify|onsi\/gomega)|unittest\.|pytest\.|numpy\.testing|org\.(?:junit|assertj|hamcrest)|PHPUnit\\)/;

/** Whether its names say that it belongs to tests. */
export const isNamedForTests = (file: string): boolean =>
  file.replace(/\.\w+$/, '').split('/').some((part) =>
    [part.replace(/[_-]/g, ''), ...part.split(/[._-]|(?<=[a-z])(?=[A-Z])/)].some((word) => WORDS.test(word.toLowerCase())));

/** Whether it uses what only tests are made with. */
export const usesTestFramework = (file: string, text: string): boolean =>
  importsIn(file, text).some(({ from }) => FRAMEWORKS.has(from) || FRAMEWORK.test(from)) || /\bAssertionError\b|\braise\s+AssertionError|\bt\.Helper\(\)/.test(text);

/**
 * Whether a test (text) hands over what it has computed to be judged by `module`: `check(total(rows), 5)` as a statement, or
 * `assert same(total(rows), 5)`. `isModule`: whether an import means that module.
 */
export function isJudgedBy(test: string, text: string, isModule: (from: string) => boolean): boolean {
  const imports = importsIn(test, text).filter(({ from }) => isModule(from));
  const names = imports.flatMap(({ names: taken }) => taken.map(({ as }) => as)).filter((name) => /^[\w$]+$/.test(name));
  if (names.length === 0) return false;
  const name = `(?:${names.map((one) => one.replaceAll('$', '\\$')).join('|')})(?:\\.\\w+)*`;
  const wraps = familyNameOf(test) === 'python' ? 'assert\\s+(?:not\\s+)?' : '(?:assert(?:\\.\\w+)?|ok|t\\.\\w+|expect)\\s*\\(\\s*!?';
  const judging = new RegExp(`(?:^|[;{}]|=>)\\s*(?:await\\s+|${wraps})?${name}\\(`, 'gm');
  const computing = new RegExp(`(?:=|return|\\()\\s*(?:await\\s+)?${name}\\((?![^\\n]*\\w\\()`, 'm');
  return [...text.matchAll(judging)].some(({ index, 0: call }) => isHandedOver(text.slice(index + call.length))) && !computing.test(text);
}

const MAX_CALL = 1_000;
/** What follows a call that is a statement, or the condition of an assertion with or without a message. */
const NOTHING_ELSE = /^[ \t]*(?:\)[ \t]*(?:\.[\w.]*(?:true|ok|toBeTruthy)\b|\.[\w.]+\(true\)|[;})]|\r?\n|$)|[;}]|,\s*['"`]|\r?\n|$)/;

/**
 * Whether the arguments of a call (the text after its parenthesis) hold a computed value and another one, and nothing is done with what it returns:
 * `total(rows), 5)`. In `equal(parse(format(value)), value)` the value of `parse` is compared by another.
 */
function isHandedOver(text: string): boolean {
  let depth = 1;
  let commas = 0;
  let calls = 0;
  for (let at = 0; at < Math.min(text.length, MAX_CALL); at += 1) {
    const sign = text[at] ?? '';
    if (/[([{]/.test(sign)) {
      if (sign === '(' && /\w/.test(text[at - 1] ?? '')) calls += 1;
      depth += 1;
    } else if (/[)\]}]/.test(sign)) depth -= 1;
    else if (sign === ',' && depth === 1) commas += 1;
    if (depth === 0) return calls > 0 && commas > 0 && NOTHING_ELSE.test(text.slice(at + 1, at + 101));
  }
  return false;
}
