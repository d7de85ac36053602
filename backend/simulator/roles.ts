export const ROLES = ['plan', 'write', 'check'] as const;
export type Role = (typeof ROLES)[number];

export interface ReadRole {
  readonly role: Role;
  /** True if the subtask only says to solve the question. It is then treated as writing, with less success. */
  readonly vague: boolean;
}

/** Matches any of the words, which are patterns themselves. */
function anyOf(...words: readonly string[]): string {
  return `(?:${words.join('|')})`;
}

/** Instructions that indicate each role. */
const INSTRUCTIONS: Readonly<Record<Role, RegExp>> = {
  plan: wordsOf(
    ...['plan', 'outline', 'analy[sz]e', 'diagnose', 'investigate', 'identify', 'locate', 'find (?:out|the|where|what|why)'],
    ...['work out', 'think', 'reason', 'explain', 'describe', 'pin down', 'name', 'trace', 'study'],
    ...['list', 'note', 'measure', 'profile', 'look for', 'collect', 'say (?:what|which|where|why|how)'],
  ),
  write: wordsOf(
    ...[
      'write',
      'implement',
      'fix',
      'correct',
      'mend',
      'repair',
      'code',
      'rewrite',
      'patch',
      'produce',
      'change',
      'edit',
      'make',
    ],
    ...['give', 'apply', 'develop', 'create', 'return'],
    ...['add', 'rename', 'move', 'extract', 'split', 'replace', 'convert', 'migrate', 'refactor', 'simplify', 'update', 'upgrade'],
    ...['document', 'comment', 'speed up', 'optimi[sz]e', 'set up', 'configure', 'reply', 'respond', 'greet', 'thank', 'show'],
  ),
  check: wordsOf(
    ...['check', 'review', 'verify', 'validate', 'judge', 'audit', 'inspect', 'compare', 'choose', 'pick', 'select', 'decide'],
    ...['proofread', 'test', 'double-check', 'critici[sz]e', 'critique', 'weigh', 'go through', 'look over', 'examine'],
  ),
};

function wordsOf(...words: readonly string[]): RegExp {
  return new RegExp(`\\b${anyOf(...words)}\\b`, 'i');
}

/** Results of earlier steps: "apply the plan" does not ask to plan, "read the fix" does not ask to fix. */
const THINGS = new RegExp(
  [
    '\\b',
    anyOf('the', 'that', 'this', 'these', 'those', 'their', 'its', 'any', 'each', 'every', 'both', 'all', 'your'),
    " (?:(?!and |or |then |to )[\\w'-]+ ){0,3}?",
    anyOf(
      ...[
        'plans?',
        'diagnos[ie]s',
        'analys[ie]s',
        'outlines?',
        'fix(?:es)?',
        'corrections?',
        'changes?',
        'repairs?',
        'patch(?:es)?',
      ],
      ...['reviews?', 'checks?', 'tests?', 'code', 'attempts?', 'answers?'],
    ),
    '\\b',
  ].join(''),
  'gi',
);

/** Negations: "without changing anything", "do not write code". */
const REFUSALS = new RegExp(
  [
    '\\b',
    anyOf('without', 'do not', "don't", 'not', 'no need to', 'before'),
    ' (?:yet )?(?:any )?',
    anyOf('writ\\w+', 'chang\\w+', 'edit\\w+', 'fix\\w+', 'cod(?:e|ing)\\b', 'implement\\w+'),
    '(?: [\\w-]+){0,3}',
    // "Change no file", "give no code", "change nothing".
    '|\\b(?:change|edit|write|give|return|touch) (?:no (?:[\\w-]+)|nothing)',
  ].join(''),
  'gi',
);

/** "Write a plan" asks for a plan, though it begins with writing. */
const ASKS_FOR_PLAN = new RegExp(
  [
    '\\b',
    anyOf('write', 'draw up', 'make', 'give', 'propose', 'produce', 'sketch', 'devise', 'create', 'develop', 'prepare'),
    // "Write the code as the plan says" asks for code.
    '\\b(?:(?!\\b',
    anyOf('as', 'from', 'by', 'with', 'along', 'following', 'per', 'to'),
    ' ',
    anyOf('the', 'that', 'this', 'your', 'their'),
    '\\b)[^.,;:]){0,40}\\b',
    anyOf('plan', 'outline', 'diagnosis', 'analysis', 'strategy'),
    '\\b',
  ].join(''),
  'i',
);

/** An instruction to answer that says how. "Answer the question" alone is vague. */
const ANSWERS = /\b(?:answer|tell)\b.*\b(?:with|from|in|by|briefly|directly|shortly|clearly|words?|sentences?)\b/i;

/** The role of a subtask, from its words: the first instruction counts. */
export function readRole(subtask: string): ReadRole {
  const blank = (match: string): string => ' '.repeat(match.length);
  const instructions = subtask.replace(REFUSALS, blank).replace(THINGS, blank);
  const placeOf = (pattern: RegExp, text: string): number => pattern.exec(text)?.index ?? Infinity;
  const first = ROLES.map((role) => ({ role, at: placeOf(INSTRUCTIONS[role], instructions) })).reduce((a, b) =>
    b.at < a.at ? b : a,
  );
  const planAt = placeOf(ASKS_FOR_PLAN, subtask);
  if (Math.min(first.at, planAt) === Infinity) return { role: 'write', vague: !ANSWERS.test(subtask) };
  return { role: planAt <= first.at ? 'plan' : first.role, vague: false };
}
