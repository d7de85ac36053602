import { code, type Family } from './family.ts';

export const calculatorFamily: Family = {
  kind: 'parsing',
  name: 'calculator',
  path: 'src/calculator.js',
  testPath: 'test/calculator.test.js',
  summary: 'works out arithmetic written as text',
  exports: ['evaluate'],
  difficulty: 0.8,
  source: code`
/**
 * The value of an expression with + - * / ^, parentheses and a leading minus. Throws a SyntaxError that says what is
 * unexpected.
 */
export function evaluate(expression) {
  const tokens = tokenize(expression);
  let position = 0;

  function sum() {
    let value = product();
    while (tokens[position] === '+' || tokens[position] === '-') {
      const operator = tokens[position++];
      const right = product();
      value = operator === '+' ? value + right : value - right;
    }
    return value;
  }

  function product() {
    let value = signed();
    while (tokens[position] === '*' || tokens[position] === '/') {
      const operator = tokens[position++];
      const right = signed();
      value = operator === '*' ? value * right : value / right;
    }
    return value;
  }

  /** A minus binds less tightly than a power: -2 ^ 2 is -4. */
  function signed() {
    if (tokens[position] !== '-') return power();
    position += 1;
    return -signed();
  }

  /** Powers are grouped from the right: 2 ^ 3 ^ 2 is 2 ^ 9. */
  function power() {
    const base = atom();
    if (tokens[position] !== '^') return base;
    position += 1;
    return base ** signed();
  }

  function atom() {
    const token = tokens[position++];
    if (token === '(') {
      const value = sum();
      if (tokens[position++] !== ')') throw new SyntaxError('a parenthesis is not closed');
      return value;
    }
    if (typeof token !== 'number') throw new SyntaxError('expected a number, found ' + (token ?? 'the end'));
    return token;
  }

  const value = sum();
  if (position < tokens.length) throw new SyntaxError('unexpected ' + tokens[position]);
  return value;
}

/** Numbers and single signs, spaces left out. */
function tokenize(expression) {
  const tokens = expression.match(/\d+(?:\.\d+)?|\S/g) ?? [];
  return tokens.map((token) => (/\d/.test(token) ? Number(token) : token));
}
`,
  test: code`
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluate } from '../src/calculator.js';

test('products are worked out before sums', () => {
  assert.equal(evaluate('1 + 2 * 3'), 7);
  assert.equal(evaluate('(1 + 2) * 3'), 9);
});

test('subtraction and division go from left to right', () => {
  assert.equal(evaluate('10 - 4 - 3'), 3);
  assert.equal(evaluate('100 / 10 / 5'), 2);
});

test('decimals and fractions are exact enough', () => {
  assert.equal(evaluate('1.5 * 4'), 6);
  assert.equal(evaluate('7 / 2'), 3.5);
});

test('powers are grouped from the right', () => {
  assert.equal(evaluate('2 ^ 3 ^ 2'), 512);
  assert.equal(evaluate('2 ^ -1'), 0.5);
});

test('a leading minus applies to the whole power', () => {
  assert.equal(evaluate('-2 ^ 2'), -4);
  assert.equal(evaluate('3 - -2'), 5);
  assert.equal(evaluate('--5'), 5);
});

test('what is left over is an error', () => {
  assert.throws(() => evaluate('2 3'), SyntaxError);
  assert.throws(() => evaluate('(1 + 2))'), SyntaxError);
});

test('what is missing is an error', () => {
  assert.throws(() => evaluate('1 +'), SyntaxError);
  assert.throws(() => evaluate('(1 + 2'), SyntaxError);
  assert.throws(() => evaluate(''), SyntaxError);
});
`,
  variants: [
    {
      id: 'power-from-left',
      edits: [
        {
          find: code`
    const base = atom();
    if (tokens[position] !== '^') return base;
    position += 1;
    return base ** signed();
`,
          replace: code`
    let value = atom();
    while (tokens[position] === '^') {
      position += 1;
      value **= atom();
    }
    return value;
`,
        },
      ],
      diagnosis: 'powers are grouped from the left, and an exponent cannot have a minus',
      symptoms: [
        'evaluate("2 ^ 3 ^ 2") returns 64, it should be 512.',
        'Chained powers are wrong in evaluate, and 2 ^ -1 is an error.',
      ],
      subtlety: 0.7,
    },
    {
      id: 'no-decimals',
      edits: [{ find: String.raw`/\d+(?:\.\d+)?|\S/g`, replace: String.raw`/\d+|\S/g` }],
      diagnosis: 'the pattern for numbers does not take the digits after a decimal point',
      symptoms: ['evaluate("1.5 * 4") throws "unexpected .".', 'evaluate cannot read decimal numbers any more.'],
      subtlety: 0.35,
    },
    {
      id: 'minus-before-power',
      edits: [
        {
          find: "    if (tokens[position] !== '-') return power();\n    position += 1;\n    return -signed();\n",
          replace: '    return power();\n',
        },
        {
          find: '    const token = tokens[position++];\n',
          replace: "    const token = tokens[position++];\n    if (token === '-') return -atom();\n",
        },
      ],
      diagnosis: 'a leading minus is applied to the number before its power is taken',
      symptoms: ['evaluate("-2 ^ 2") gives 4; in our notation it must be -4.', 'evaluate treats -2 ^ 2 as (-2) ^ 2.'],
      subtlety: 0.75,
    },
    {
      id: 'difference-reversed',
      edits: [{ find: 'value - right', replace: 'right - value' }],
      diagnosis: 'the operands of a subtraction are swapped',
      symptoms: ['evaluate("10 - 4 - 3") returns 9.', 'Differences have the wrong sign: evaluate("5 - 3") is -2.'],
      subtlety: 0.25,
    },
    {
      id: 'whole-division',
      edits: [{ find: 'value / right', replace: 'Math.trunc(value / right)' }],
      diagnosis: 'the result of a division is cut to a whole number',
      symptoms: ['evaluate("7 / 2") is 3, I expected 3.5.', 'Divisions in evaluate lose everything after the decimal point.'],
      subtlety: 0.3,
    },
    {
      id: 'rest-ignored',
      edits: [
        { find: "  if (position < tokens.length) throw new SyntaxError('unexpected ' + tokens[position]);\n", replace: '' },
      ],
      diagnosis: 'nothing checks that the whole expression was read, so what follows it is ignored',
      symptoms: [
        'evaluate("2 3") returns 2 instead of complaining.',
        'A closing parenthesis too many goes unnoticed: evaluate("(1 + 2))") returns 3.',
      ],
      subtlety: 0.6,
    },
  ],
};
