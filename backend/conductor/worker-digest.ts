/*
 * A short summary of which worker is described as good at what. A small model can copy a name that follows a keyword, but cannot compare
 * descriptions. So this file compares the words of the descriptions with those of the question, and the prompt holds the result. Only
 * English descriptions are understood.
 */

/** Ordinals of workers, the best match first. */
export interface WorkerDigest {
  /** Described as good at a role; matches with the question's subject come first. */
  readonly plan: readonly number[];
  readonly write: readonly number[];
  readonly check: readonly number[];
  /** Described as good at the question's subject. */
  readonly near: readonly number[];
  readonly cheap: readonly number[];
  /** Can edit and run code before they answer; those praised for writing come first. */
  readonly hands: readonly number[];
}

export type DigestRole = 'plan' | 'write' | 'check';

const ROLE_WORDS: Readonly<Record<DigestRole, RegExp>> = {
  plan: /\b(plan|analy[sz]|think|thought|reason|architect|diagnos|design|cause)/i,
  write: /\b(writ|code|coder|coding|implement|program)/i,
  check: /\b(check|review|verif|test|judg|critic|fault|mistake|bug)/i,
};
const ROLES = Object.keys(ROLE_WORDS) as DigestRole[];
const CHEAP = /\b(cheap|free|costs nothing|inexpensive)\b/i;
const RESERVATION = /\b(not|no|never|less|weak|poor|bad|hasty|sometimes|rarely|lacks?)\b/i;

const CLAUSES = /[.;\n]+|\b(?:but|who|though|yet)\b/i;

/** Words that occur in questions and descriptions of every subject. */
const COMMON = new Set([
  'the', 'and', 'for', 'with', 'that', 'this', 'from', 'its', 'are', 'where', 'when', 'which', 'what', 'into', 'other', 'well', 'good', 'known', 'care',
  'function', 'functions', 'code', 'codes', 'coding', 'write', 'writes', 'writing', 'written', 'plan', 'plans', 'check', 'checks', 'test', 'tests', 'work',
  'works', 'best', 'strong', 'fast', 'model', 'does', 'everything', 'bit', 'number', 'numbers', 'user', 'question', 'file', 'files', 'javascript',
]);

/** At most this many workers per list. */
const MOST_TOLD = 3;

interface DigestedWorker {
  readonly description?: string | undefined;
  readonly hasHands?: boolean | undefined;
}

export function digestOf(question: string, pool: readonly DigestedWorker[]): WorkerDigest {
  const asked = stems(question);
  const workers = pool.map(({ description = '', hasHands = false }) => {
    const clauses = description.split(CLAUSES).filter((clause) => clause.trim() !== '' && !RESERVATION.test(clause))
      .map((clause) => ({ role: roleOf(clause), shared: [...stems(clause)].filter((stem) => asked.has(stem)).length }));
    const praise = (role: DigestRole): number => Math.max(0, ...clauses.filter((clause) => clause.role === role).map(({ shared }) => 1 + shared));
    return {
      plan: praise('plan'), write: praise('write'), check: praise('check'),
      near: Math.max(0, ...clauses.map(({ shared }) => shared)), cheap: Number(CHEAP.test(description)),
      hands: hasHands ? 1 + praise('write') : 0,
    };
  });
  const ranked = (by: keyof WorkerDigest): number[] => workers.map((worker, ordinal) => ({ ordinal, score: worker[by] })).filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.ordinal - b.ordinal).slice(0, MOST_TOLD).map(({ ordinal }) => ordinal);
  return { plan: ranked('plan'), write: ranked('write'), check: ranked('check'), near: ranked('near'), cheap: ranked('cheap'), hands: ranked('hands') };
}

/** In the form in which conductor-mini names workers, so that it can copy it: "plan2, write0, near1, cheap3, hands0". Empty if nothing is known of anybody. */
export function digestLine({ near, cheap, hands, ...roles }: WorkerDigest): string {
  return [
    ...ROLES.flatMap((role) => roles[role].map((ordinal) => `${role}${ordinal}`)),
    ...near.map((ordinal) => `near${ordinal}`),
    ...cheap.map((ordinal) => `cheap${ordinal}`),
    ...hands.map((ordinal) => `hands${ordinal}`),
  ].join(', ');
}

/** The role whose keyword comes first: "finds faults in code" does not describe a writer. */
function roleOf(clause: string): DigestRole | undefined {
  const found = ROLES.map((role) => ({ role, at: clause.search(ROLE_WORDS[role]) })).filter(({ at }) => at >= 0);
  return found.sort((a, b) => a.at - b.at)[0]?.role;
}

/** Stemmed words; function names are split into their parts. */
function stems(text: string): Set<string> {
  const words = text.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase().match(/\p{L}{3,}/gu) ?? [];
  return new Set(words.filter((word) => !COMMON.has(word)).map((word) => word.replace(/(?:ings?|ed|e?s|e)$/, '')).filter((stem) => stem.length > 2));
}
