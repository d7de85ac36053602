import type { KeyedRandom } from '../../common/keyed-random.ts';
import type { GymTask } from './gym-tasks.ts';

/** A gym worker's reply to an unknown question. */
export function unknownQuestion(): string {
  return 'This is a simulated worker of the gym. It knows the questions of the gym, and this is none of them.';
}

export function planOf(random: KeyedRandom, { functionName, cases }: GymTask, idea: string): string {
  return [
    random.pick('plan:opening', [
      `How I would go about \`${functionName}\`:`, `A plan for \`${functionName}\`:`,
        `What \`${functionName}\` has to do, step by step:`,
    ]),
    '',
    `1. ${random.pick('plan:first', ['Read the arguments as the question gives them.',
      'Take the arguments as they are; change none of them.'])}`,
    `2. ${idea}`,
    `3. ${random.pick('plan:last', [
      `Try it by hand on ${cases.length} small calls, an empty one among them.`,
        'Return the result in just the form that the question asks for.',
    ])}`,
  ].join('\n');
}

export function codeOf(random: KeyedRandom, { functionName }: GymTask, source: string): string {
  const opening = random.pick('code:opening', [`Here is \`${functionName}\`:`, 'The function:',
    `I wrote \`${functionName}\` like this:`]);
  return `${opening}\n\n${fenced(source)}`;
}

/** A review returns the whole code, since the last step's output is the answer. */
export function reviewOf(random: KeyedRandom, attempts: number, findings: readonly string[], source: string): string {
  const opening = attempts > 1 ? `I compared ${attempts} versions.` : 'I went through the code.';
  const conclusion = findings.length < attempts
    ? random.pick('review:kept', ['This one stands:', 'I found nothing wrong with this:', 'The code to use:'])
    : random.pick('review:repaired', ['With that put right:', 'The corrected code:', 'I repaired it:']);
  return [opening, ...new Set(findings.map((finding) => `- Not right: ${finding}`)), '', conclusion, '',
    fenced(source)].join('\n');
}

function fenced(source: string): string {
  return `\`\`\`js\n${source}\`\`\``;
}
