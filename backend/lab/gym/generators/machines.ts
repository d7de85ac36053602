import { fault, js, type GymGenerator } from './generator.ts';

const stackProgram: GymGenerator = {
  name: 'stack-program',
  kind: 'machines',
  split: 'train',
  harder: 0,
  make(draw) {
    const limit = draw.whole('limit', 20, 99);
    const functionName = draw.pick('name', ['runStack', 'runProgram', 'execute', 'runInstructions']);
    const [a = 1, b = 2, c = 3] = draw.wholes('operands', 3, 2, 9);
    return {
      functionName,
      parameters: 'program',
      phrasings: [
        'runs instructions on a stack: an integer is pushed, "add" and "sub" take two (sub: lower minus upper), "dup" doubles ' +
          `the top, "swap" exchanges the two on top; results wrap modulo ${limit} (never negative), and it returns the top, or ` +
          'null if an operand is missing or nothing is left.',
        'simulates a device with a stack and returns its top value after the last instruction of the list (integers, "add", ' +
          `"sub", "dup", "swap"); every result is taken modulo ${limit} into 0 to ${limit - 1}, and an instruction without its ` +
          'operands stops the device with null.',
      ],
      approach: 'Loop over the instructions with a stack, check operands before popping, subtract the upper from the lower, ' +
        `and bring results into 0 to ${limit - 1}.`,
      source: js`
function ${functionName}(program) {
  const stack = [];
  for (const instruction of program) {
    if (typeof instruction === 'number') {
      stack.push(instruction);
      continue;
    }
    if (stack.length < (instruction === 'dup' ? 1 : 2)) return null;
    const upper = stack.pop();
    if (instruction === 'dup') {
      stack.push(upper, upper);
      continue;
    }
    const lower = stack.pop();
    if (instruction === 'swap') stack.push(upper, lower);
    else stack.push((((instruction === 'add' ? lower + upper : lower - upper) % ${limit}) + ${limit}) % ${limit});
  }
  return stack.pop() ?? null;
}`,
      faults: [
        fault('lower - upper', 'upper - lower', 'Subtraction takes the lower from the upper.', 0.5),
        fault(`(((instruction === 'add' ? lower + upper : lower - upper) % ${limit}) + ${limit}) % ${limit}`,
          `(instruction === 'add' ? lower + upper : lower - upper) % ${limit}`,
            'The remainder of a result is what remains of it, with its sign.', 0.7),
        fault(`(instruction === 'dup' ? 1 : 2)`, '1', 'An instruction needs something on the stack.', 0.6),
        fault('stack.push(upper, lower)', 'stack.push(lower, upper)', 'After swapping the upper one is on top.', 0.55),
        fault('stack.push(upper, upper)', 'stack.push(upper)', 'Doubling leaves the top as it is.', 0.45),
      ],
      inputs: [
        [[a + 9, b, 'sub']], [[a, a + b, 'sub']], [[a, 'add']], [[a, b + 10, 'swap', 'sub']],
        [[c, 'dup', 'add', limit - 1, 'add']], [[]], [['dup']], [[a, b + 20, 'swap']],
      ],
    };
  },
};

const gridRobot: GymGenerator = {
  name: 'grid-robot',
  kind: 'machines',
  split: 'train',
  harder: -0.02,
  make(draw) {
    const size = draw.whole('size', 4, 14);
    const functionName = draw.pick('name', ['driveRobot', 'moveRobot', 'runRobot', 'steer']);
    const forward = (count: number): string => 'F'.repeat(count);
    return {
      functionName,
      parameters: 'commands',
      phrasings: [
        `simulates a robot on a ${size} by ${size} board: it starts at [0, 0] facing up (y grows), L and R turn it, F moves it ` +
          'a step unless it would leave the board; it returns [x, y, steps really made].',
        `drives a robot by the commands L, R and F over fields 0 to ${size - 1} in x and y, from [0, 0] looking towards ` +
          'growing y; a step over the edge is not made; the result is its last field and the count of steps, [x, y, count].',
      ],
      approach: 'Keep position and direction as state, turn clockwise for R, and move only where both coordinates stay within ' +
        `0 to ${size - 1}.`,
      source: js`
function ${functionName}(commands) {
  const directions = [[0, 1], [1, 0], [0, -1], [-1, 0]];
  let [x, y, facing, steps] = [0, 0, 0, 0];
  for (const command of commands) {
    if (command === 'R') facing = (facing + 1) % 4;
    if (command === 'L') facing = (facing + 3) % 4;
    if (command !== 'F') continue;
    const nextX = x + directions[facing][0];
    const nextY = y + directions[facing][1];
    if (Math.min(nextX, nextY) < 0 || Math.max(nextX, nextY) >= ${size}) continue;
    [x, y, steps] = [nextX, nextY, steps + 1];
  }
  return [x, y, steps];
}`,
      faults: [
        fault(`>= ${size}`, `> ${size}`, 'The last field of the board is the one with its size.', 0.6),
        fault('Math.min(nextX, nextY) < 0 || ', '', 'The robot may not pass the far edges.', 0.55),
        fault('(facing + 1) % 4', '(facing + 3) % 4', 'Both turns go to the left.', 0.4),
        fault('(facing + 3) % 4', '(facing - 1) % 4', 'A turn to the left takes one off the direction, modulo four.', 0.65),
        fault('steps + 1', 'steps', 'Steps are counted by the position.', 0.5),
      ],
      inputs: [
        [`${forward(2)}R${forward(3)}`], [forward(size + 2)], ['LF'], [`FRFLLFF`], [`R${forward(size)}L${forward(size)}`], [''],
        ['RRFFRFF'],
      ],
    };
  },
};

const registerProgram: GymGenerator = {
  name: 'register-program',
  kind: 'machines',
  split: 'train',
  harder: 0.02,
  make(draw) {
    const most = draw.whole('most', 40, 99);
    const functionName = draw.pick('name', ['runRegisters', 'runSteps', 'simulate', 'runCode']);
    const [a = 3, b = 4] = draw.wholes('operands', 2, 3, 8);
    const counting = [['set', 'a', a], ['inc', 'b'], ['inc', 'b'], ['dec', 'a'], ['jnz', 'a', -3]];
    return {
      functionName,
      parameters: 'program',
      phrasings: [
        'simulates registers a and b, both 0 at first, under instructions ["set", r, n], ["inc", r], ["dec", r] and ["jnz", r, ' +
          'offset] (jump by offset where r is not 0), and returns [a, b] when the program is left at either end, or after ' +
          `${most} instructions.`,
        'executes a program for a device with two registers: set, inc, dec, and jnz, which jumps relative to its own place if ' +
          `the register is not zero; it stops outside the program or when ${most} instructions have run, and gives back [a, b].`,
      ],
      approach: `Keep a place and a count in the state, stop where the place leaves either end or after ${most} steps, and let ` +
        'jumps be relative to the jump itself.',
      source: js`
function ${functionName}(program) {
  const registers = { a: 0, b: 0 };
  let place = 0;
  for (let steps = 0; steps < ${most} && place >= 0 && place < program.length; steps += 1) {
    const [operation, register, operand] = program[place];
    if (operation === 'set') registers[register] = operand;
    if (operation === 'inc') registers[register] += 1;
    if (operation === 'dec') registers[register] -= 1;
    place += operation === 'jnz' && registers[register] !== 0 ? operand : 1;
  }
  return [registers.a, registers.b];
}`,
      faults: [
        fault(`steps < ${most}`, `steps <= ${most}`, 'The last instruction that may run is the one with that number, counted ' +
          'from nought.', 0.6),
        fault('registers[register] !== 0 ? operand : 1', 'registers[register] === 0 ? operand : 1',
          'A jump is made where the register is zero.', 0.45),
        fault('place += operation', 'place = operation', 'A jump goes to the place with that number.', 0.5),
        fault('registers[register] !== 0 ? operand : 1', 'registers[register] > 0 ? operand : 1',
          'A jump is made where the register is positive.', 0.7),
        fault('? operand : 1', '? operand + 1 : 1', 'An offset counts from the next instruction.', 0.6),
      ],
      inputs: [
        [counting], [[['inc', 'a'], ['jnz', 'a', -1]]], [[['dec', 'a'], ['jnz', 'a', 2], ['inc', 'b'], ['inc', 'b']]],
        [[['jnz', 'a', 2], ['inc', 'b'], ['set', 'a', b]]], [[]],
        [[['inc', 'b'], ['inc', 'a'], ['jnz', 'b', -1]]],
      ],
    };
  },
};

const tapeDevice: GymGenerator = {
  name: 'tape-device',
  kind: 'machines',
  split: 'held-out',
  harder: 0,
  make(draw) {
    const cells = draw.whole('cells', 6, 15);
    const wrap = draw.whole('wrap', 6, 18);
    const functionName = draw.pick('name', ['runTape', 'driveTape', 'tapeAfter', 'runHead']);
    return {
      functionName,
      parameters: 'instructions',
      phrasings: [
        `simulates a head on a ring of ${cells} cells, all 0: ">" and "<" move it, "+" and "-" change its cell by 1, values ` +
          `running from 0 to ${wrap - 1} and round, "0" skips the next instruction if the cell is 0; it returns the cells at ` +
          'the end.',
        `executes instructions on a circular tape with ${cells} cells that hold 0 to ${wrap - 1} and wrap: > < + - as usual, ` +
          'and 0, which jumps over the following instruction where the current cell is zero; the state of the tape is given ' +
          'back.',
      ],
      approach: `Keep the place modulo ${cells} and values modulo ${wrap}, both never negative, and step over one more ` +
        'instruction at 0 on an empty cell.',
      source: js`
function ${functionName}(instructions) {
  const tape = Array.from({ length: ${cells} }, () => 0);
  let head = 0;
  for (let at = 0; at < instructions.length; at += 1) {
    const instruction = instructions[at];
    if (instruction === '>') head = (head + 1) % ${cells};
    if (instruction === '<') head = (head + ${cells - 1}) % ${cells};
    if (instruction === '+') tape[head] = (tape[head] + 1) % ${wrap};
    if (instruction === '-') tape[head] = (tape[head] + ${wrap - 1}) % ${wrap};
    if (instruction === '0' && tape[head] === 0) at += 1;
  }
  return tape;
}`,
      faults: [
        fault(`(tape[head] + ${wrap - 1}) % ${wrap}`, 'tape[head] - 1', 'A minus takes one off the value of the cell.', 0.5),
        fault(`(head + 1) % ${cells}`, `Math.min(head + 1, ${cells - 1})`, 'The head stops at the last cell.', 0.6),
        fault(`(head + ${cells - 1}) % ${cells}`, 'Math.max(head - 1, 0)', 'The head stops at the first cell.', 0.6),
        fault('tape[head] === 0) at', 'tape[head] !== 0) at', 'The next instruction is skipped where the cell holds something.',
          0.5),
        fault(`(tape[head] + 1) % ${wrap}`, `(tape[head] + 1) % ${wrap + 1}`, 'Values run up to and including the wrapping one.',
          0.65),
      ],
      inputs: [
        ['-'], ['<+'], [`${'>'.repeat(cells)}+`], ['0+>+0->+'], ['+'.repeat(wrap)], [''], ['+0->-0+'],
      ],
    };
  },
};

const turnScheduler: GymGenerator = {
  name: 'turn-scheduler',
  kind: 'machines',
  split: 'held-out',
  harder: 0.01,
  make(draw) {
    const turn = draw.whole('turn', 3, 15);
    const functionName = draw.pick('name', ['runTurns', 'finishTimes', 'schedule', 'takeTurns']);
    return {
      functionName,
      parameters: 'jobs',
      phrasings: [
        `simulates jobs that take turns on one device: each runs for at most ${turn} ticks and then goes to the back of the ` +
          'queue unless it is done; given the ticks each job needs, it returns the tick at which each has finished, jobs that ' +
          'need 0 finishing at 0.',
        `executes a queue of jobs step by step, ${turn} ticks a turn, an unfinished job going to the end of the queue, and ` +
          'gives back for each job of the list the time when it was done (0 for one that needs nothing).',
      ],
      approach: `Keep a queue of the jobs that need something, run the first for the smaller of its rest and ${turn}, note the ` +
        'time when done, else put it at the back.',
      source: js`
function ${functionName}(jobs) {
  const left = [...jobs];
  const finished = jobs.map(() => 0);
  const queue = jobs.map((_, job) => job).filter((job) => left[job] > 0);
  let now = 0;
  while (queue.length > 0) {
    const job = queue.shift();
    const ticks = Math.min(left[job], ${turn});
    now += ticks;
    left[job] -= ticks;
    if (left[job] > 0) queue.push(job);
    else finished[job] = now;
  }
  return finished;
}`,
      faults: [
        fault('now += ticks;', `now += ${turn};`, 'The clock moves on by a whole turn each time.', 0.55),
        fault('queue.push(job)', 'queue.unshift(job)', 'A job that has begun goes on until it is done.', 0.55),
        fault(`Math.min(left[job], ${turn})`, `Math.min(left[job], ${turn + 1})`, 'A turn ends with the tick after its last.',
          0.5),
        fault('.filter((job) => left[job] > 0)', '', 'Every job of the list enters the queue.', 0.7),
        fault('queue.shift()', 'queue.pop()', 'The job that was added last runs next.', 0.6),
      ],
      inputs: [[[turn + 1, 2, turn]], [[5, 0, turn * 2 + 1]], [[1, 1, 1]], [[]], [[turn * 2, turn + 2, 1, turn]], [[0]]],
    };
  },
};

export const MACHINE_GENERATORS: readonly GymGenerator[] = [stackProgram, gridRobot, registerProgram, tapeDevice, turnScheduler];
