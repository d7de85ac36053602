import { counted } from '../common/counted.ts';
import type { LeftOutReason, LoggedComparison, Outcomes } from './learning.ts';

/* What there is to learn from, and what came of it, in words for people. */

/** After the number of plans. */
const REASONS: Readonly<Record<LeftOutReason, string>> = {
  'no-verdict': 'without a verdict of tests',
  'simulated': 'of simulated workers',
  'forgotten': 'whose records were forgotten',
  'edited': 'changed by a person who keeps them from learning',
  'stopped': 'with a step that a person stopped',
  'stood-in': 'in which another worker stood in for the planned one',
  'kept': 'with steps that another run paid for',
  'unplanned': 'that no Conductor planned',
  'worker-gone': 'with a worker that is not in the pool now',
  'too-long': 'too long for the Conductor to read',
  'unreadable': 'that cannot be read',
  'learned': 'learned from already',
};

/** Such as `70 plans to learn from: 31 verified, 39 not.`, and what is held out and left out, a sentence each. */
export function outcomeLines({ learned, heldOut, leftOut }: Outcomes): string[] {
  const all = (of: Outcomes['learned']): string => `${of.verified} verified, ${of.other} not`;
  return [
    `${counted(learned.verified + learned.other, 'plan')} to learn from: ${all(learned)}.`,
    `${counted(heldOut.verified + heldOut.other, 'plan')} of the newest fifth of the questions, never learned from, to judge by: ${all(heldOut)}.`,
    ...(leftOut.length > 0 ? [`Left out: ${leftOut.map(({ reason, count }) => `${count} ${REASONS[reason]}`).join(', ')}.`] : []),
  ];
}

/** With its sign. */
export const nats = (value: number): string => `${value > 0 ? '+' : ''}${value.toFixed(2)}`;

/** What the newest outcomes say of what was learned. */
export function loggedLines({ verified, other, gain, formatRate, difference, pValue }: LoggedComparison): string[] {
  return [
    `On the newest outcomes, without carrying a plan out (log-probability of a plan, in nats, after less before):`,
    `  ${counted(verified, 'verified plan')} ${nats(gain.verified)}, ${other} not verified ${nats(gain.other)}; valid plans ${percent(formatRate.before)} before, ${percent(formatRate.after)} after`,
    ...(difference && pValue !== undefined
      ? [`  difference ${nats(difference.mean)} (${nats(difference.low)} to ${nats(difference.high)}, 95 %); by chance alone as large with p = ${pValue.toFixed(3)}`] : []),
    '  The share of its plans that your tests would verify is not known: for that plans have to be carried out ("conductor train", or your next questions).',
  ];
}

const percent = (share: number): string => `${Math.round(100 * share)} %`;

/** @param own how many plans the learner sampled itself, with log-probabilities in the journal */
export const howItLearns = (own: number): string =>
  `It imitates plans that were verified${own === 0 ? '. Of plans that were not, it learns from those alone that it sampled itself, and there are too few.' : `, and learns from ${counted(own, 'plan')} that it sampled itself, verified or not, by policy gradient.`}`;
