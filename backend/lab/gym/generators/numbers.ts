import { fault, js, type GymGenerator } from './generator.ts';

const sumMultiples: GymGenerator = {
  name: 'sum-multiples',
  kind: 'numbers',
  split: 'train',
  harder: 0,
  make(draw) {
    const one = draw.whole('one', 4, 11);
    const other = one + draw.pick('other', [1, 2, 3, 5]);
    const functionName = draw.pick('name', ['sumMultiples', 'addMultiples', 'multiplesBelow', 'multipleSum']);
    return {
      functionName,
      parameters: 'limit',
      phrasings: [
        `adds up all positive integers below the limit that are divisible by ${one} or by ${other}, each once.`,
        `returns the sum of the multiples of ${one} and of ${other} from 1 up to but not including limit; common multiples ` +
          'count once.',
        `gives the total of every integer from 1 to limit - 1 which ${one} or ${other} divides without remainder.`,
      ],
      approach: `Go from 1 to limit - 1 and add an integer where its remainder by ${one} or by ${other} is 0.`,
      source: js`
function ${functionName}(limit) {
  let sum = 0;
  for (let value = 1; value < limit; value += 1) {
    if (value % ${one} === 0 || value % ${other} === 0) sum += value;
  }
  return sum;
}`,
      faults: [
        fault('value < limit', 'value <= limit', 'Include the limit itself.', 0.5),
        fault('||', '&&', 'An integer counts where both of them divide it.', 0.4),
        fault('sum += value', 'sum += 1', 'Count the multiples.', 0.3),
        fault(
          `if (value % ${one} === 0 || value % ${other} === 0) sum += value;`,
          `if (value % ${one} === 0) sum += value;\n    if (value % ${other} === 0) sum += value;`,
          'Add the multiples of the one and then the multiples of the other.', 0.6),
      ],
      inputs: [[one * other + 1], [one + 1], [other], [1], [one * other * 2], [one]],
    };
  },
};

const digitRoot: GymGenerator = {
  name: 'digit-root',
  kind: 'numbers',
  split: 'train',
  harder: 0.04,
  make(draw) {
    const base = draw.whole('base', 4, 11);
    const functionName = draw.pick('name', ['digitRoot', 'reduceDigits', 'crossSum', 'rootOfDigits']);
    const sizes = draw.wholes('values', 3, base * base, 5_000);
    return {
      functionName,
      parameters: 'value',
      phrasings: [
        `takes the sum of an integer's digits in base ${base}, again and again, until one digit is left, and returns that digit.`,
        `computes the digital root of a non-negative integer written in base ${base}: digits are added up until a single one ` +
          'remains.',
      ],
      approach: `While the value is at least ${base}, replace it by the sum of its remainders by ${base}.`,
      source: js`
function ${functionName}(value) {
  let rest = value;
  while (rest >= ${base}) {
    let sum = 0;
    for (let left = rest; left > 0; left = Math.floor(left / ${base})) sum += left % ${base};
    rest = sum;
  }
  return rest;
}`,
      faults: [
        fault(`while (rest >= ${base})`, `if (rest >= ${base})`, 'Add up the digits once.', 0.45),
        fault(`while (rest >= ${base})`, `while (rest > ${base})`, 'Stop where the value is not above the base.', 0.65),
        fault(`sum += left % ${base}`, `sum += left % ${base + 1}`, 'Each digit is the remainder by one more than the base.',
          0.4),
        fault('left > 0;', `left >= ${base};`, 'Go on while there is more than one digit left to split off.', 0.6),
      ],
      inputs: [[base], [base * base - 1], [base ** 4 - 1], [0], ...sizes.map((value) => [value])],
    };
  },
};

const countPrimes: GymGenerator = {
  name: 'count-primes',
  kind: 'numbers',
  split: 'train',
  harder: 0.02,
  make(draw) {
    const ending = draw.whole('span', 10, 40);
    const functionName = draw.pick('name', ['countPrimes', 'primesFrom', 'primeCount', 'howManyPrimes']);
    const low = draw.wholes('low', 1, 30, 90)[0] ?? 30;
    return {
      functionName,
      parameters: 'low',
      phrasings: [
        `counts the primes among the integers from low to low + ${ending}, both included.`,
        `returns how many of the integers low, low + 1, …, low + ${ending} have exactly two divisors.`,
      ],
      approach: 'Test each integer of 2 or more by all divisors up to and including its square root, both ends of the stretch ' +
        'included.',
      source: js`
function ${functionName}(low) {
  let count = 0;
  for (let value = Math.max(2, low); value <= low + ${ending}; value += 1) {
    let isPrime = true;
    for (let divisor = 2; divisor * divisor <= value; divisor += 1) if (value % divisor === 0) isPrime = false;
    if (isPrime) count += 1;
  }
  return count;
}`,
      faults: [
        fault('divisor * divisor <= value', 'divisor * divisor < value', 'Divisors below the square root are enough.', 0.65),
        fault('Math.max(2, low)', 'low', 'Start at low; what no smaller integer divides is prime.', 0.55),
        fault('let divisor = 2;', 'let divisor = 3;', 'Try odd divisors from 3 on.', 0.45),
        fault(`value <= low + ${ending}`, `value < low + ${ending}`, 'Stop before the last integer.', 0.5),
        fault('count += 1', 'count += value', 'Add the primes up.', 0.3),
      ],
      inputs: [[0], [2], [-3], [low], [Math.max(2, 67 - ending)], [1]],
    };
  },
};

const lowestTerms: GymGenerator = {
  name: 'lowest-terms',
  kind: 'numbers',
  split: 'held-out',
  harder: 0.03,
  make(draw) {
    const times = draw.whole('times', 3, 12);
    const functionName = draw.pick('name', ['lowestTerms', 'cancelDown', 'simplify', 'reduceFraction']);
    const [a = 1, b = 2, c = 3] = draw.wholes('parts', 3, 2, 40);
    return {
      functionName,
      parameters: 'top, bottom',
      phrasings: [
        `multiplies the fraction top / bottom by ${times} and returns it cancelled down as [top, bottom], integers without a ` +
          'common divisor, the bottom positive.',
        `gives ${times} times a fraction in lowest terms, as a pair of integers whose greatest common divisor is 1; a minus ` +
          'sign stands on the top.',
      ],
      approach: `Multiply the top by ${times}, divide both by the greatest common divisor of their absolute values, and move ` +
        'the sign to the top.',
      source: js`
function ${functionName}(top, bottom) {
  const product = top * ${times};
  let divisor = Math.abs(product);
  for (let rest = Math.abs(bottom); rest > 0;) [divisor, rest] = [rest, divisor % rest];
  const sign = bottom < 0 ? -1 : 1;
  return [(sign * product) / divisor, (sign * bottom) / divisor];
}`,
      faults: [
        fault('bottom < 0 ? -1 : 1', '1', 'The signs stay where they are.', 0.55),
        fault(`top * ${times}`, 'top', 'Cancel the fraction as it is given.', 0.3),
        fault('rest > 0;)', 'rest > 1;)', "Euclid's division stops at 1.", 0.6),
        fault('(sign * bottom) / divisor]', 'sign * bottom]', 'Divide the top by what both have in common.', 0.45),
        fault('bottom < 0 ? -1 : 1', 'product < 0 ? -1 : 1', 'Make the top positive.', 0.6),
      ],
      inputs: [[a, b], [-a, c], [b, -c], [-1, -times * 2], [times, times * times], [1, times + 1]],
    };
  },
};

const divisorList: GymGenerator = {
  name: 'divisor-list',
  kind: 'numbers',
  split: 'held-out',
  harder: 0,
  make(draw) {
    const factor = draw.whole('factor', 3, 15);
    const functionName = draw.pick('name', ['divisorsOf', 'properDivisors', 'splitters', 'dividing']);
    const values = draw.wholes('values', 2, 20, 120);
    return {
      functionName,
      parameters: 'value',
      phrasings: [
        'lists in ascending order the divisors of a positive integer, 1 and itself included, that are not multiples of ' +
          `${factor}.`,
        `returns every positive integer that divides value without remainder and is not itself divisible by ${factor}, ` +
          'smallest first.',
      ],
      approach: `Try 1 to value itself in order and keep what divides it and leaves a remainder by ${factor}.`,
      source: js`
function ${functionName}(value) {
  const found = [];
  for (let divisor = 1; divisor <= value; divisor += 1) {
    if (value % divisor === 0 && divisor % ${factor} !== 0) found.push(divisor);
  }
  return found;
}`,
      faults: [
        fault('divisor <= value', 'divisor < value', 'Look for divisors below the integer.', 0.5),
        fault('let divisor = 1;', 'let divisor = 2;', 'Start at 2, since 1 divides everything.', 0.45),
        fault('!== 0', '=== 0', 'Keep the multiples of the given factor.', 0.4),
        fault(`&& divisor % ${factor} !== 0`, '', 'List all divisors.', 0.3),
        fault('divisor <= value', 'divisor * divisor <= value', 'It is enough to go up to the square root.', 0.55),
      ],
      inputs: [[factor * 4], [factor * factor * 2], [1], [factor + 1], ...values.map((value) => [value])],
    };
  },
};

export const NUMBER_GENERATORS: readonly GymGenerator[] = [sumMultiples, digitRoot, countPrimes, lowestTerms, divisorList];
