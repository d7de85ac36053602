import { code, type Family } from './family.ts';

export const ordersFamily: Family = {
  kind: 'data',
  name: 'orders',
  path: 'src/orders.js',
  testPath: 'test/orders.test.js',
  summary: 'totals of orders, and a summary for each customer',
  exports: ['orderTotal', 'summarizeOrders'],
  difficulty: 0.3,
  source: code`
/** What an order costs in whole cents: quantities times prices, less the discount in percent. */
export function orderTotal({ items, discountPercent = 0 }) {
  const cents = items.reduce((sum, { priceCents, quantity = 1 }) => sum + priceCents * quantity, 0);
  return Math.round((cents * (100 - discountPercent)) / 100);
}

/**
 * One line for each customer, the biggest total first: how many orders, their total, and the day of the latest one (2026-01-31).
 * Cancelled orders do not count.
 */
export function summarizeOrders(orders) {
  const lines = new Map();
  for (const order of orders) {
    if (order.status === 'cancelled') continue;
    const line = lines.get(order.customer) ?? { customer: order.customer, orders: 0, totalCents: 0, lastDay: '' };
    line.orders += 1;
    line.totalCents += orderTotal(order);
    if (order.day > line.lastDay) line.lastDay = order.day;
    lines.set(order.customer, line);
  }
  return [...lines.values()].sort((a, b) => b.totalCents - a.totalCents);
}
`,
  test: code`
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderTotal, summarizeOrders } from '../src/orders.js';

const orders = [
  { customer: 'Ada', day: '2026-03-09', items: [{ priceCents: 500, quantity: 2 }] },
  { customer: 'Bob', day: '2026-01-05', items: [{ priceCents: 4000 }] },
  { customer: 'Ada', day: '2026-02-01', items: [{ priceCents: 250 }] },
  { customer: 'Bob', day: '2026-05-01', status: 'cancelled', items: [{ priceCents: 9900 }] },
];

test('quantities are multiplied with prices', () => {
  assert.equal(orderTotal({ items: [{ priceCents: 500, quantity: 3 }, { priceCents: 20, quantity: 2 }] }), 1540);
});

test('an item without a quantity counts once', () => {
  assert.equal(orderTotal({ items: [{ priceCents: 500 }] }), 500);
});

test('a discount is a share of the price', () => {
  assert.equal(orderTotal({ items: [{ priceCents: 2000 }], discountPercent: 10 }), 1800);
});

test('cents are rounded to the nearest', () => {
  assert.equal(orderTotal({ items: [{ priceCents: 995 }], discountPercent: 15 }), 846);
});

test('cancelled orders do not count', () => {
  const bob = summarizeOrders(orders).find((line) => line.customer === 'Bob');
  assert.deepEqual(bob, { customer: 'Bob', orders: 1, totalCents: 4000, lastDay: '2026-01-05' });
});

test('the latest day is kept whatever the order of the list', () => {
  const ada = summarizeOrders(orders).find((line) => line.customer === 'Ada');
  assert.deepEqual(ada, { customer: 'Ada', orders: 2, totalCents: 1250, lastDay: '2026-03-09' });
});

test('the biggest total comes first', () => {
  assert.deepEqual(summarizeOrders(orders).map((line) => line.customer), ['Bob', 'Ada']);
});
`,
  variants: [
    {
      id: 'cancelled-counted',
      edits: [{ find: "    if (order.status === 'cancelled') continue;\n", replace: '' }],
      diagnosis: 'cancelled orders are not skipped',
      symptoms: [
        'summarizeOrders adds the cancelled order of Bob to his total.',
        'Orders that were cancelled show up in the totals of summarizeOrders.',
      ],
      subtlety: 0.3,
    },
    {
      id: 'last-listed-day',
      edits: [{ find: 'if (order.day > line.lastDay) line.lastDay = order.day;', replace: 'line.lastDay = order.day;' }],
      diagnosis: 'the day of the order listed last is kept instead of the latest day',
      symptoms: [
        'The lastDay in summarizeOrders goes back in time when older orders come later in the list.',
        'summarizeOrders says that Ada ordered last on 2026-02-01, but she has an order in March.',
      ],
      subtlety: 0.5,
    },
    {
      id: 'quantity-required',
      edits: [{ find: 'quantity = 1', replace: 'quantity' }],
      diagnosis: 'an item without a quantity is multiplied with undefined',
      symptoms: [
        'orderTotal is NaN when an item has no quantity.',
        'summarizeOrders has NaN totals for simple orders; orderTotal seems to cause it.',
      ],
      subtlety: 0.35,
    },
    {
      id: 'discount-in-cents',
      edits: [{ find: '(cents * (100 - discountPercent)) / 100', replace: 'cents - discountPercent' }],
      diagnosis: 'the discount is taken off as cents instead of as a percentage',
      symptoms: [
        'A discount of 10 percent on 20 dollars takes off ten cents: orderTotal returns 1990.',
        'orderTotal hardly changes when I give a discountPercent.',
      ],
      subtlety: 0.25,
    },
    {
      id: 'rounded-down',
      edits: [{ find: 'Math.round(', replace: 'Math.floor(' }],
      diagnosis: 'the total is rounded down instead of to the nearest cent',
      symptoms: [
        'orderTotal is one cent too low for 9.95 with 15 percent off: 845 instead of 846.',
        'Some discounted totals of orderTotal are a cent short of what accounting has.',
      ],
      subtlety: 0.6,
    },
    {
      id: 'smallest-first',
      edits: [{ find: 'b.totalCents - a.totalCents', replace: 'a.totalCents - b.totalCents' }],
      diagnosis: 'the customers are sorted by ascending totals',
      symptoms: [
        'The best customer is at the end of what summarizeOrders returns.',
        'summarizeOrders lists the smallest total first.',
      ],
      subtlety: 0.2,
    },
  ],
};
