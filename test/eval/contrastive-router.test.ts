import { expect, it } from 'vitest';
import { trainContrastively } from '../../backend/eval/contestants/contrastive-training.ts';
import type { RoutedExample } from '../../backend/eval/contestants/nearest-neighbour-router.ts';

const SUBJECTS = [
  ['count the letters of the word', 'reverse the string', 'join the words with commas', 'find vowels in the text'],
  ['add the divisors of the integer', 'multiply the primes below', 'find the remainder of the sum', 'square the largest number'],
  ['sort the records by date', 'group the rows by column', 'filter the table of orders', 'join two tables by key'],
] as const;

/** Each worker knows one subject. */
const examples = SUBJECTS.flatMap((subject, kind) => subject.flatMap((text) =>
  [1, 2, 3, 4].map((number): RoutedExample => ({ question: `${text} ${number}`, scores: SUBJECTS.map((_, worker) => Number(worker === kind)) }))));

it('a contrastive router sends questions to the worker that was right about such questions', () => {
  const router = trainContrastively(examples);
  expect(['how many letters has this string', 'the sum of the divisors of an integer', 'group the orders of the table by date'].map((question) => router.workerFor(question)))
    .toEqual([0, 1, 2]);
  expect(examples.filter(({ question, scores }) => scores[router.workerFor(question)] === 1)).toHaveLength(examples.length);
});

it('is drawn to all who were right, and sends what it knows no word of to whoever was best', () => {
  const shared = examples.map(({ question, scores }, index) => ({ question, scores: [scores[0] ?? 0, scores[1] ?? 0, index % 4 === 0 ? 1 : scores[2] ?? 0] }));
  const router = trainContrastively(shared);
  expect(router.workerFor('the letters of a word')).toBe(0);
  expect(router.workerFor('Zweifellos.')).toBe(2);
});

it('has learned nothing where all workers were equal, and is the same for the same examples', () => {
  const flat = examples.map(({ question }) => ({ question, scores: [1, 1] }));
  expect([0, 1]).toContain(trainContrastively(flat).workerFor('the letters of a word'));
  const [one, other] = [trainContrastively(examples), trainContrastively(examples)];
  const asked = ['the first of all', 'join what is sorted', 'remainder of the text'];
  expect(asked.map((question) => one.workerFor(question))).toEqual(asked.map((question) => other.workerFor(question)));
});
