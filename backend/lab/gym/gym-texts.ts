import type { KeyedRandom } from '../../common/keyed-random.ts';
import type { GymTask } from './gym-tasks.ts';

/** A gym worker's reply to an unknown question. */
export function unknownQuestion(): string {
  return 'This is a simulated worker of the gym. It knows the questions of the gym, and this is none of them.';
}

/** A worker that minds does nothing with work that it does not see. */
export function cannotSee(needed: number): string {
  return `I cannot do this:\n\nI am to work on what ${needed > 1 ? 'others have made' : 'somebody has planned or made'}, and I am shown ${needed > 1 ? 'too little' : 'nothing'} of it.`;
}

export function noFault({ functionName }: GymTask): string {
  return `I have looked for a fault and found none.\n\nNobody has reported one of \`${functionName}\`, either.`;
}

/** There is nothing to plan, to write or to review in a greeting. */
export function onlyTalk(): string {
  return 'I cannot do this:\n\nThe message asks for nothing; a reply is enough.';
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

/** An answer in the form that the question asks for. */
export function answerOf(random: KeyedRandom, task: GymTask, source: string): string {
  return task.form === 'code' ? codeOf(random, task, source) : source;
}

export function codeOf(random: KeyedRandom, { functionName }: GymTask, source: string): string {
  const opening = random.pick('code:opening', [`Here is \`${functionName}\`:`, 'The function:',
    `I wrote \`${functionName}\` like this:`]);
  return `${opening}\n\n${fenced(source)}`;
}

/** A review returns the whole answer, since the last step's output is the answer. */
export function reviewOf(random: KeyedRandom, { form }: GymTask, attempts: number, findings: readonly string[], source: string): string {
  const opening = attempts > 1 ? `I compared ${attempts} versions.` : form === 'code' ? 'I went through the code.' : 'I went through the answer.';
  const conclusion = findings.length < attempts
    ? random.pick('review:kept', ['This one stands:', 'I found nothing wrong with this:', form === 'code' ? 'The code to use:' : 'The answer to give:'])
    : random.pick('review:repaired', ['With that put right:', form === 'code' ? 'The corrected code:' : 'The corrected answer:', 'I repaired it:']);
  return [opening, ...new Set(findings.map((finding) => `- Not right: ${finding}`)), '', conclusion, '',
    form === 'code' ? fenced(source) : source].join('\n');
}

function fenced(source: string): string {
  return `\`\`\`js\n${source}\`\`\``;
}
