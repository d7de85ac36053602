import type { PlanExample } from './plan-examples.ts';

/*
 * Examples for evaluations on data sets, in two sets. In the paper, examples of other domains than those of the tasks are better than
 * examples of the same ones, which are copied (arXiv 2512.04388 Table 4). Theirs are plans of their own Conductor; these are written by hand.
 * Access is all or nothing, so that they also fit the paper's form of the prompt.
 */

/** Medicine, a proof, a word puzzle and a negotiation: none of the data sets that are evaluated asks such questions. */
export const OUT_OF_DISTRIBUTION: readonly PlanExample[] = [
  {
    question: 'A patient of 61 years has had swollen ankles since a new tablet against high blood pressure was begun. Which kind of tablet is the likeliest cause, and what would you change?',
    reasoning: 'The cause is found by going through the kinds of tablets, and a wrong change could harm. One model lists them, and another one checks the conclusion against the list.',
    plan: {
      modelIds: [0, 1],
      subtasks: [
        'Go through the usual kinds of tablets against high blood pressure, say for each whether it makes ankles swell and why, and name the likeliest cause.',
        'Check the list and the conclusion that you see for mistakes, and write the final answer: the likeliest cause, why, and what should be changed.',
      ],
      accessList: [[], 'all'],
    },
  },
  {
    question: 'Show that among any five points in a square with sides of 2 there are two at a distance of at most the square root of 2.',
    reasoning: 'This is a short argument with one idea. One careful model can write it alone.',
    plan: { modelIds: [2], subtasks: ['Find how the square is best divided, and write the whole proof with every step.'], accessList: [[]] },
  },
  {
    question: 'Use each of the numbers 3, 7, 8 and 25 at most once, with +, -, * and /, to reach 431.',
    reasoning: 'Searching is what goes wrong here, so two models search without seeing each other, and a third one recalculates what they found.',
    plan: {
      modelIds: [1, 2, 0],
      subtasks: [
        'Search for an expression that reaches 431, beginning with products that come near it. Give every expression that you try with its value.',
        'Search for an expression that reaches 431, working backwards from 431 by sums and differences. Give every expression that you try with its value.',
        'Recalculate the expressions that you see, and give the one that is right and uses each number at most once. If none is, search further.',
      ],
      accessList: [[], [], 'all'],
    },
  },
  {
    question: 'Our landlord wants to raise the rent by 15 % although the lift has been broken for two months. Draft a short, friendly letter for us.',
    reasoning: 'First it has to be clear what to ask for. Then the letter is written, and somebody else reads it as the landlord would.',
    plan: {
      modelIds: [0, 2, 1],
      subtasks: [
        'List what the tenants can fairly ask for, and which facts the letter needs.',
        'Write the letter by the list that you see, short and friendly.',
        'Read the letter that you see as the landlord would, remove what would annoy and not help, and return the whole letter.',
      ],
      accessList: [[], 'all', 'all'],
    },
  },
];

/** A competition problem, a question with choices, a function, and a question with a short answer: as in the data sets. */
export const IN_DISTRIBUTION: readonly PlanExample[] = [
  {
    question: 'How many positive divisors of 7200 are perfect squares?',
    reasoning: 'The prime factors give the count directly. One model solves it, and another one checks by another way.',
    plan: {
      modelIds: [0, 1],
      subtasks: [
        'Factor 7200 into primes and count the divisors that are perfect squares. Give the result.',
        'Check the solution that you see by listing the squares that divide 7200, and give the final result in the form that the question asks for.',
      ],
      accessList: [[], 'all'],
    },
  },
  {
    question: 'Which of these is a noble gas? (A) nitrogen (B) argon (C) chlorine (D) hydrogen',
    reasoning: 'This is one fact. One model is enough.',
    plan: { modelIds: [1], subtasks: ['Name the noble gas among the choices, and answer with its letter in the form that the question asks for.'], accessList: [[]] },
  },
  {
    question: 'Write a function `merge(intervals)` that joins intervals that overlap or touch, and returns them in order.',
    reasoning: 'Touching intervals and empty lists are easily missed. So the cases are listed first, then the code is written, then it is checked case by case.',
    plan: {
      modelIds: [2, 0, 1],
      subtasks: [
        'List the cases that `merge` has to handle, with the result of each. Give no code.',
        'Write the function `merge` so that all cases that you see hold. Return the whole code.',
        'Trace the code that you see through every listed case, correct what does not hold, and return the whole function.',
      ],
      accessList: [[], 'all', 'all'],
    },
  },
  {
    question: 'A bond pays 4 % of its face value each year and costs 80 % of it. What is its current yield?',
    reasoning: 'This is one division, and only the form of the answer can go wrong.',
    plan: { modelIds: [0], subtasks: ['Calculate the current yield of the bond, and give it as a percentage in the form that the question asks for.'], accessList: [[]] },
  },
];
