/*
 * The role of a step, read from the words of its instruction: conductor-mini says with words which role it means, and those words are
 * replaced by a form of that role (forms.ts). It reads the English that this model was taught. The simulated workers read roles for
 * themselves (backend/simulator/roles.ts); a test holds the two to one another.
 */

export const STEP_ROLES = ['plan', 'write', 'check'] as const;
export type StepRole = (typeof STEP_ROLES)[number];

const VERBS: Readonly<Record<StepRole, RegExp>> = {
  plan: /\b(?:plan|outline|analy[sz]e|diagnose|investigate|identify|locate|find (?:out|the|where|what|why)|work out|think|reason|explain|describe|pin down|name|trace|study)\b/i,
  write: /\b(?:write|implement|fix|correct|mend|repair|code|rewrite|patch|produce|change|edit|make|give|apply|develop|create|return)\b/i,
  check: /\b(?:check|review|verify|validate|judge|audit|inspect|compare|choose|pick|select|decide|proofread|test|double-check|criticise|criticize|critique|weigh|go through|look over|examine)\b/i,
};

/** What others made, as in "apply the plan"; and what is not to be done, as in "without changing anything". */
const NOT_ASKED = [
  /\b(?:without|do not|don't|not|no need to|before) (?:yet )?(?:any )?(?:writ\w+|chang\w+|edit\w+|fix\w+|cod(?:e|ing)\b|implement\w+)(?: [\w-]+){0,3}/gi,
  /\b(?:the|that|this|these|those|their|its|any|each|every|both|all|your) (?:(?!and |or |then |to )[\w'-]+ ){0,3}?(?:plans?|diagnos[ie]s|analys[ie]s|outlines?|fix(?:es)?|corrections?|changes?|repairs?|patch(?:es)?|reviews?|checks?|tests?|code|attempts?|answers?)\b/gi,
];

/** "Write a short plan" asks for a plan; "write the code as the plan says" does not. */
const ASKS_FOR_PLAN =
  /\b(?:write|draw up|make|give|propose|produce|sketch|devise|create|develop|prepare)\b(?:(?!\b(?:as|from|by|with|along|following|per|to) (?:the|that|this|your|their)\b)[^.,;:]){0,40}\b(?:plan|outline|diagnosis|analysis|strategy)\b/i;

/** By the first thing that an instruction asks for; writing where it asks for nothing that is known here. */
export function roleOfStep(subtask: string): StepRole {
  const blank = (match: string): string => ' '.repeat(match.length);
  const asked = NOT_ASKED.reduce((text, pattern) => text.replace(pattern, blank), subtask);
  const at = (pattern: RegExp, text: string): number => {
    const found = text.search(pattern);
    return found < 0 ? Infinity : found;
  };
  const [first] = STEP_ROLES.map((role) => ({ role, at: at(VERBS[role], asked) })).sort((a, b) => a.at - b.at);
  const plan = at(ASKS_FOR_PLAN, subtask);
  if (!first || Math.min(first.at, plan) === Infinity) return 'write';
  return plan <= first.at ? 'plan' : first.role;
}
