import { code, type Family } from './family.ts';

export const stackMachineFamily: Family = {
  kind: 'machines',
  name: 'stack-machine',
  path: 'src/stack-machine.js',
  testPath: 'test/stack-machine.test.js',
  summary: 'runs programs of a small stack machine',
  exports: ['runProgram'],
  difficulty: 0.85,
  source: code`
/**
 * Runs a program and returns what it printed. Instructions: ['push', number], ['add'], ['subtract'], ['multiply'], ['duplicate'],
 * ['swap'], ['print'], ['jump', line] and ['jumpIfZero', line], with lines counted from 0. A program ends behind its last line.
 */
export function runProgram(program, { maxSteps = 10_000 } = {}) {
  const stack = [];
  const printed = [];
  let line = 0;

  function pop() {
    if (stack.length === 0) throw new Error('the stack is empty in line ' + (line - 1));
    return stack.pop();
  }

  for (let step = 0; line < program.length; step += 1) {
    if (step === maxSteps) throw new Error('stopped after ' + maxSteps + ' steps');
    const [name, argument] = program[line];
    line += 1;
    if (name === 'push') {
      stack.push(argument);
    } else if (name === 'add') {
      stack.push(pop() + pop());
    } else if (name === 'subtract') {
      const right = pop();
      stack.push(pop() - right);
    } else if (name === 'multiply') {
      stack.push(pop() * pop());
    } else if (name === 'duplicate') {
      const top = pop();
      stack.push(top, top);
    } else if (name === 'swap') {
      const top = pop();
      const below = pop();
      stack.push(top, below);
    } else if (name === 'print') {
      printed.push(pop());
    } else if (name === 'jump') {
      line = argument;
    } else if (name === 'jumpIfZero') {
      if (pop() === 0) line = argument;
    } else {
      throw new Error('unknown instruction: ' + name);
    }
  }
  return printed;
}
`,
  test: code`
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProgram } from '../src/stack-machine.js';

const countdown = [
  ['push', 3],
  ['duplicate'],
  ['print'],
  ['push', 1],
  ['subtract'],
  ['duplicate'],
  ['jumpIfZero', 8],
  ['jump', 1],
  ['push', 99],
  ['print'],
];

test('sums and products are printed', () => {
  assert.deepEqual(runProgram([['push', 2], ['push', 3], ['add'], ['push', 4], ['multiply'], ['print']]), [20]);
});

test('the number pushed last is subtracted from the one before', () => {
  assert.deepEqual(runProgram([['push', 10], ['push', 4], ['subtract'], ['print']]), [6]);
});

test('swap exchanges the two topmost numbers', () => {
  assert.deepEqual(runProgram([['push', 1], ['push', 2], ['swap'], ['print'], ['print']]), [1, 2]);
});

test('a loop counts down and goes on behind it', () => {
  assert.deepEqual(runProgram(countdown), [3, 2, 1, 99]);
});

test('a conditional jump uses up the number it looks at', () => {
  assert.deepEqual(runProgram([['push', 5], ['push', 0], ['jumpIfZero', 3], ['print']]), [5]);
});

test('a jump goes to the line it names', () => {
  assert.deepEqual(runProgram([['push', 7], ['jump', 3], ['push', 8], ['print']]), [7]);
});

test('an empty stack is an error', () => {
  assert.throws(() => runProgram([['push', 1], ['add']]), /stack is empty in line 1/);
  assert.throws(() => runProgram([['duplicate']]), /stack is empty/);
});

test('a program may take exactly the greatest number of steps', () => {
  assert.deepEqual(runProgram([['push', 1], ['print']], { maxSteps: 2 }), [1]);
  assert.throws(() => runProgram([['push', 1], ['push', 2], ['print']], { maxSteps: 2 }), /stopped after 2 steps/);
  assert.throws(() => runProgram([['jump', 0]]), /stopped after 10000 steps/);
});

test('an unknown instruction is an error', () => {
  assert.throws(() => runProgram([['fly']]), /unknown instruction: fly/);
});
`,
  variants: [
    {
      id: 'subtract-reversed',
      edits: [
        { find: '      const right = pop();\n      stack.push(pop() - right);', replace: '      stack.push(pop() - pop());' },
      ],
      diagnosis: 'the two numbers of a subtraction are taken from the stack in the wrong order',
      symptoms: [
        'runProgram([["push", 10], ["push", 4], ["subtract"], ["print"]]) prints -6.',
        'Subtraction has the wrong sign in runProgram, and my countdown never ends.',
      ],
      subtlety: 0.5,
    },
    {
      id: 'condition-left-on-stack',
      edits: [{ find: 'if (pop() === 0) line = argument;', replace: 'if (stack.at(-1) === 0) line = argument;' }],
      diagnosis: 'jumpIfZero looks at the topmost number but leaves it on the stack',
      symptoms: [
        'After a jumpIfZero in runProgram there is a number too many on the stack, so the next print shows 0.',
        'runProgram prints the tested zero again: jumpIfZero should use it up.',
      ],
      subtlety: 0.7,
    },
    {
      id: 'one-step-too-many',
      edits: [{ find: 'if (step === maxSteps)', replace: 'if (step > maxSteps)' }],
      diagnosis: 'the limit of steps is checked one step too late',
      symptoms: [
        'runProgram with maxSteps: 2 happily runs a program of three instructions.',
        'The maxSteps limit of runProgram is off by one.',
      ],
      subtlety: 0.7,
    },
    {
      id: 'relative-jump',
      edits: [{ find: "name === 'jump') {\n      line = argument;", replace: "name === 'jump') {\n      line += argument;" }],
      diagnosis: 'jump adds its argument to the current line instead of going to the line it names',
      symptoms: [
        'runProgram jumps to the wrong line: ["jump", 3] skips too far.',
        'A loop with ["jump", 1] ends after the first pass in runProgram.',
      ],
      subtlety: 0.5,
    },
    {
      id: 'no-empty-check',
      edits: [
        { find: "    if (stack.length === 0) throw new Error('the stack is empty in line ' + (line - 1));\n", replace: '' },
      ],
      diagnosis: 'taking a number from an empty stack goes unnoticed and gives undefined',
      symptoms: [
        'runProgram([["push", 1], ["add"]]) returns quietly; it should say that the stack is empty.',
        'A program that uses more numbers than there are computes with NaN instead of failing in runProgram.',
      ],
      subtlety: 0.4,
    },
    {
      id: 'swap-restores',
      edits: [{ find: 'stack.push(top, below);', replace: 'stack.push(below, top);' }],
      diagnosis: 'swap puts the two numbers back in the order they had',
      symptoms: [
        'The swap instruction has no effect in runProgram.',
        'runProgram([["push", 1], ["push", 2], ["swap"], ["print"], ["print"]]) prints 2, 1.',
      ],
      subtlety: 0.55,
    },
  ],
};
