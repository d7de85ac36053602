import { code, type Family } from './family.ts';

export const vendingMachineFamily: Family = {
  kind: 'machines',
  name: 'vending-machine',
  path: 'src/vending-machine.js',
  testPath: 'test/vending-machine.test.js',
  summary: 'a vending machine that takes coins and gives change',
  exports: ['VendingMachine', 'makeChange'],
  difficulty: 0.7,
  source: code`
const COINS = [200, 100, 50, 20, 10];

/** An amount in as few coins as possible, the biggest first. */
export function makeChange(amount) {
  const coins = [];
  let rest = amount;
  for (const coin of COINS) {
    while (rest >= coin) {
      coins.push(coin);
      rest -= coin;
    }
  }
  return coins;
}

/** Sells from slots of { name, price, count }; all money is in cents. */
export class VendingMachine {
  #slots;
  #credit = 0;

  constructor(slots) {
    this.#slots = new Map(slots.map((slot) => [slot.name, { ...slot }]));
  }

  get credit() {
    return this.#credit;
  }

  insert(coin) {
    if (!COINS.includes(coin)) throw new RangeError('this coin is not accepted: ' + coin);
    this.#credit += coin;
  }

  /** Gives out an item with the change. Where it is sold out or the credit too small it throws, and the credit stays. */
  select(name) {
    const slot = this.#slots.get(name);
    if (!slot || slot.count === 0) throw new Error(name + ' is sold out');
    if (this.#credit < slot.price) throw new Error(name + ' costs ' + slot.price + ', inserted are ' + this.#credit);
    slot.count -= 1;
    this.#credit -= slot.price;
    return { name, change: this.refund() };
  }

  /** Gives back the whole credit. */
  refund() {
    const coins = makeChange(this.#credit);
    this.#credit = 0;
    return coins;
  }
}
`,
  test: code`
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VendingMachine, makeChange } from '../src/vending-machine.js';

function machineWith(...coins) {
  const machine = new VendingMachine([{ name: 'tea', price: 150, count: 1 }, { name: 'water', price: 80, count: 5 }]);
  for (const coin of coins) machine.insert(coin);
  return machine;
}

test('change is given in as few coins as possible', () => {
  assert.deepEqual(makeChange(380), [200, 100, 50, 20, 10]);
  assert.deepEqual(makeChange(40), [20, 20]);
  assert.deepEqual(makeChange(0), []);
});

test('the exact price is enough', () => {
  assert.deepEqual(machineWith(100, 50).select('tea'), { name: 'tea', change: [] });
});

test('too much money comes back as change', () => {
  assert.deepEqual(machineWith(200).select('tea'), { name: 'tea', change: [50] });
});

test('too little money is refused and kept as credit', () => {
  const machine = machineWith(50);
  assert.throws(() => machine.select('water'), /water costs 80, inserted are 50/);
  assert.equal(machine.credit, 50);
});

test('a slot can be sold out', () => {
  const machine = machineWith(200);
  machine.select('tea');
  machine.insert(200);
  assert.throws(() => machine.select('tea'), /tea is sold out/);
  assert.equal(machine.credit, 200);
});

test('after a sale or a refund no credit is left', () => {
  const machine = machineWith(100);
  machine.select('water');
  assert.equal(machine.credit, 0);
  machine.insert(20);
  assert.deepEqual(machine.refund(), [20]);
  assert.deepEqual(machine.refund(), []);
});

test('unknown coins are not accepted', () => {
  assert.throws(() => machineWith(30), RangeError);
});
`,
  variants: [
    {
      id: 'exact-price-refused',
      edits: [{ find: 'this.#credit < slot.price', replace: 'this.#credit <= slot.price' }],
      diagnosis: 'a credit that equals the price is taken for too small',
      symptoms: [
        'A VendingMachine refuses a tea for 150 when exactly 150 were inserted.',
        'With the exact money, select of VendingMachine says that it is not enough.',
      ],
      subtlety: 0.6,
    },
    {
      id: 'last-coin-missing',
      edits: [{ find: 'while (rest >= coin)', replace: 'while (rest > coin)' }],
      diagnosis: 'a coin that equals the rest is not paid out',
      symptoms: ['makeChange(40) returns too many or wrong coins: [20, 10].', 'makeChange gives back too little money.'],
      subtlety: 0.6,
    },
    {
      id: 'small-coins-first',
      edits: [{ find: '[200, 100, 50, 20, 10]', replace: '[10, 20, 50, 100, 200]' }],
      diagnosis: 'the coins are tried from the smallest up, so change is paid in tens only',
      symptoms: [
        'makeChange pays everything in 10 cent coins.',
        'The change of VendingMachine is always a handful of the smallest coin; look at makeChange.',
      ],
      subtlety: 0.35,
    },
    {
      id: 'credit-kept',
      edits: [
        {
          find: '    const coins = makeChange(this.#credit);\n    this.#credit = 0;\n',
          replace: '    const coins = makeChange(this.#credit);\n',
        },
      ],
      diagnosis: 'the credit is not set back to 0 after it has been paid out',
      symptoms: [
        'I can call refund on a VendingMachine twice and get my money twice.',
        'After a sale the VendingMachine still shows the change as credit.',
      ],
      subtlety: 0.5,
    },
    {
      id: 'stock-not-reduced',
      edits: [{ find: '    slot.count -= 1;\n', replace: '' }],
      diagnosis: 'the count of a slot does not go down when an item is sold',
      symptoms: ['A VendingMachine with one tea sells as many teas as I pay for.', 'VendingMachine never runs out of stock.'],
      subtlety: 0.4,
    },
    {
      id: 'price-not-paid',
      edits: [{ find: '    this.#credit -= slot.price;\n', replace: '' }],
      diagnosis: 'the price is not taken off the credit before the change is paid',
      symptoms: [
        'VendingMachine gives all my coins back together with the item.',
        'The change that select of VendingMachine returns is as much as I paid.',
      ],
      subtlety: 0.4,
    },
  ],
};
