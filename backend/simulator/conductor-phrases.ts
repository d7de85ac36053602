import type { Role } from './roles.ts';

/*
 * The phrases of a simulated Conductor. A worker sees only the words of its subtask, so each subtask must say what to do.
 */

type Phrases = readonly [string, ...string[]];

export const SUBTASKS: Readonly<Record<Role | 'judge' | 'alone', Phrases>> = {
  plan: [
    'Find the cause of the reported behaviour and write a short plan for correcting it. Do not write the code yet.',
    'Analyse the module step by step on the reported case. Name the line that is wrong and say why. Give no code.',
    'Diagnose the bug: which condition or expression is responsible, and what should it be instead? No code, only the diagnosis.',
    'Work out where the function goes wrong in the reported case, and outline the smallest change that corrects it.',
  ],
  write: [
    'Write the corrected file. Follow the diagnosis you are shown, change nothing else, and give the whole file with its path.',
    'Implement the change that the plan describes and return the complete file in a fenced block with its path.',
    'Fix the bug as outlined by your colleague. Keep the exported names, and hand on the full source of the file.',
  ],
  alone: [
    'Fix the reported bug in the module and return the whole corrected file in a fenced block with its path.',
    'Correct the function so that it does what its comment promises. Give the complete file, with its path.',
    'Write a correct version of the module: mend the reported case and keep what works. Return the full file with its path.',
  ],
  check: [
    'Check the proposed file against the question, case by case. Correct what is wrong and return the final file whole.',
    'Review the code as a critical colleague: edge cases, order of operands, off by one. Return the final file whole.',
    'Verify the file by tracing the reported case and two edge cases; repair it if needed and give the complete final file.',
  ],
  judge: [
    'Compare the attempts you are shown, trace the reported case through each, choose the correct one and return its file whole.',
    'Judge the independent attempts: which is right in the reported case and in the edge cases? Return that file whole.',
  ],
};

/** The Conductor's reasoning for each plan shape. */
export const REASONS = {
  alone: [
    'The report points at one place, and the description of one worker fits it well. A single step should do.',
    'This looks like a small correction. One worker that is good at this kind of code can do it alone.',
  ],
  planned: [
    'The report does not show the cause. One worker finds it, another writes the change, and a third looks at the result.',
    'Whoever writes should know what to change, and whoever checks should not have written it: so three steps.',
  ],
  checked: [
    'One worker can write this, but edge cases are easily missed. A different worker checks the file before it is handed over.',
    'A correction and then a review by somebody else: an author overlooks his own mistakes.',
  ],
  judged: [
    'No worker stands out for this. Several try it independently, without seeing each other, and one compares what they wrote.',
    'Independent attempts fail in different places. A judge sees all of them and keeps the one that holds.',
  ],
  revised: [
    'The tests did not pass. What they said is worth more than another guess, so every step now has it in view.',
    'The last answer failed its tests. This time the cause is settled with the feedback in view before anybody writes.',
  ],
  kept: [
    'Nothing in what the tests said asks for another change, so the answer stays as it is.',
    'There is nothing left to correct. I keep the answer.',
  ],
} as const satisfies Record<string, Phrases>;

export type Reason = keyof typeof REASONS;
