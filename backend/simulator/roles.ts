export const ROLES = ['plan', 'write', 'check'] as const;
export type Role = (typeof ROLES)[number];

export interface ReadRole {
  readonly role: Role;
  /** True where the subtask does not say what to do beyond solving the question: it is then done as writing, and less well. */
  readonly vague: boolean;
}

/** What each role's worker is asked to do, as whole words at the start of an instruction. */
const VERBS: Readonly<Record<Role, RegExp>> = {
  plan:
    /\b(?:plan|outline|analy[sz]e|diagnose|investigate|identify|locate|find (?:out|the|where|what|why)|work out|think|reason|explain|describe|pin down|name|trace|study)\b/i,
  write: /\b(?:write|implement|fix|correct|mend|repair|code|rewrite|patch|produce|change|edit|make|give|apply|develop|create|return)\b/i,
  check:
    /\b(?:check|review|verify|validate|judge|audit|inspect|compare|choose|pick|select|decide|proofread|test|double-check|criticize|critique|weigh|go through|look over|examine)\b/i,
};

/** Things that earlier steps hand over: in "apply the plan" nobody is asked to plan, in "read the fix" nobody to fix. */
const NOUNS =
  /\b(?:the|that|this|these|those|their|its|any|each|every|both|all|previous|earlier|given|your|first|second|proposed|step's|colleague's) (?:[\w-]+ ){0,2}?(?:plans?|diagnos[ie]s|analys[ie]s|outlines?|fix(?:es)?|corrections?|changes?|repairs?|patch(?:es)?|reviews?|checks?|tests?|code|attempts?|answers?)\b/gi;

const REFUSALS = /\b(?:without|do not|don't|not|no need to|before) (?:yet )?(?:any )?(?:writ\w+|chang\w+|edit\w+|fix\w+|cod(?:e|ing)\b|implement\w+)(?: [\w-]+){0,3}/gi;

const ASKS_FOR_PLAN =
  /\b(?:write|draw up|make|give|propose|produce|sketch|devise|create|develop|prepare)\b[^.,;:]{0,40}\b(?:plan|outline|diagnosis|analysis|strategy)\b/i;

/** The role that a subtask asks for, read from its words alone: the first instruction in it counts. */
export function readRole(subtask: string): ReadRole {
  const asksForPlan = ASKS_FOR_PLAN.exec(subtask)?.index ?? Infinity;
  const blank = (match: string): string => ' '.repeat(match.length);
  const instructions = subtask.replace(REFUSALS, blank).replace(NOUNS, blank);
  const first = ROLES.map((role) => ({ role, at: VERBS[role].exec(instructions)?.index ?? Infinity })).sort((a, b) => a.at - b.at)[0];
  if (!first || (first.at === Infinity && asksForPlan === Infinity)) return { role: 'write', vague: true };
  return { role: asksForPlan <= first.at ? 'plan' : first.role, vague: false };
}
