import type { Plan } from '../workflow/plan.ts';

/** A worked example: a question, the reasoning, and the plan. */
export interface PlanExample {
  readonly question: string;
  readonly reasoning: string;
  readonly plan: Plan;
}

/*
 * The examples of the Conductor's prompt. In the paper, examples of the very domain were copied (58 % of LiveCodeBench instead of 64 % with
 * examples from other domains, 61 % mixed; arXiv 2512.04388 Table 4). People's questions are of many kinds, though, and what an
 * explanation or a "thanks" is worth is seen from examples only. So each kind is there once, each in another shape with other workers, and
 * the longest plan is about no code at all. A test holds every example to the rules of `plan/plan-sense.ts`.
 */

export const THANKS: PlanExample = {
  question: 'That did it, thank you!',
  reasoning: 'Nothing is asked for, so one short step by the worker that is described as cheap is enough.',
  plan: { modelIds: [2], subtasks: ['Answer the thanks in one friendly sentence. Change no file.'], accessList: [[]] },
};

export const EXPLANATION: PlanExample = {
  question: 'What does `Ledger.carry_over` do for a month without entries?',
  reasoning:
    'This asks for words about one method, which every worker is shown. One careful reader answers it; a second one would repeat the first. ' +
    'Worker 1 is described as good at explaining code.',
  plan: {
    modelIds: [1],
    subtasks: [
      'Explain what `Ledger.carry_over` does for a month without entries: the answer in one sentence first, then the lines that show it and what ' +
      'its callers get. Answer in words and change no file.',
    ],
    accessList: [[]],
  },
};

export const BUG: PlanExample = {
  question: '`parse_duration("1h 90m")` returns 1.5 hours instead of 2.5, please fix it.',
  reasoning:
    'The case is small and can be traced by hand, so one worker mends it at once. Such a fix easily breaks the case next to it, so another ' +
    'worker sees the result and tries those.',
  plan: {
    modelIds: [2, 0],
    subtasks: [
      'Trace `parse_duration("1h 90m")` to the line that loses an hour, and correct it for every number of minutes. Return every changed file whole.',
      'Check the fix you are shown: trace "1h 90m", "90m", "1h" and "" through `parse_duration` by hand, correct what does not hold, and return ' +
      'every changed file whole.',
    ],
    accessList: [[], [0]],
  },
};

export const FEATURE: PlanExample = {
  question: 'Add a `--since DATE` option to the `export` command of our command line.',
  reasoning:
    'The change itself is plain; what gets forgotten are its cases. So one worker lists the cases while another one already writes a draft ' +
    'without that list, and a third one holds the draft against the list.',
  plan: {
    modelIds: [1, 2, 0],
    subtasks: [
      'List the cases that `--since DATE` of `export` has to handle (no date, a date of another form, a date to come, the day itself, existing ' +
      'callers), each with the result you would expect. Hand on the list without code.',
      'Add the option `--since DATE` to the `export` command in the style of its other options. Return every changed file whole.',
      'Go through the draft you are shown with the list of cases you are shown, add or correct what is missing, and return every changed file whole.',
    ],
    accessList: [[], [], [0, 1]],
  },
};

export const REVIEW: PlanExample = {
  question: 'Please review what changed in `upload.go` since the last release. Is it safe to accept files from people we do not know this way?',
  reasoning:
    'A review finds more when people look for different things without knowing of each other. Two workers look, each for one thing; a third ' +
    'one sees both, drops what the code does not bear out, and answers.',
  plan: {
    modelIds: [0, 2, 1],
    subtasks: [
      'Review `upload.go` for what a hostile user can do: names and sizes of files, paths, types, and what is stored where. List each finding with ' +
      'its line and an input that shows it.',
      'Review `upload.go` for what goes wrong in daily use: errors that are dropped, files left open, limits, two uploads at once. List each finding ' +
      'with its line.',
      'Hold the two lists of findings you are shown against the code, drop what it does not bear out, and answer whether accepting files this way is safe: the gravest ' +
      'finding first, each with its line and what to do. Answer in words and change no file.',
    ],
    accessList: [[], [], 'all'],
  },
};

export const OTHER_DOMAIN: PlanExample = {
  question: 'Translate our safety leaflet into plain language for visitors. It must keep every prohibition.',
  reasoning:
    'The risk is that a prohibition gets lost in simpler words, and it is worth some money to avoid that. So the prohibitions are listed first, two ' +
    'workers rewrite the leaflet with that list, each on its own, and the one who made the list chooses and mends.',
  plan: {
    modelIds: [1, 0, 2, 1],
    subtasks: [
      'List every prohibition and duty in the leaflet, one a line, without leaving out or merging any.',
      'Rewrite the leaflet in short, plain sentences for visitors. Keep every item of the list you are shown.',
      'Rewrite the leaflet for somebody who reads little and slowly. Keep every item of the list you are shown.',
      'Hold both leaflets you are shown against the list item by item, take the clearer one, add what is missing or weakened, and return it whole.',
    ],
    accessList: [[], [0], [0], 'all'],
  },
};
