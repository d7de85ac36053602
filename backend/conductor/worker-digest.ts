/*
 * Who is said to be good at what, in few words. A small model finds a name behind a word that it is looking for, and little else: so the words
 * of the descriptions are compared with those of the question here, and it is told the outcome. Descriptions in other languages than English say
 * nothing to it.
 */

/** Ordinals of workers; who fits best comes first. */
export interface WorkerDigest {
  /** Praised for a role, rather where the praise is about what the question is about. */
  readonly plan: readonly number[];
  readonly write: readonly number[];
  readonly check: readonly number[];
  /** Praised for what the question is about. */
  readonly near: readonly number[];
  readonly cheap: readonly number[];
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

/** Words that are in questions and descriptions whatever they are about. */
const COMMON = new Set([
  'the', 'and', 'for', 'with', 'that', 'this', 'from', 'its', 'are', 'where', 'when', 'which', 'what', 'into', 'other', 'well', 'good', 'known', 'care',
  'function', 'functions', 'code', 'codes', 'coding', 'write', 'writes', 'writing', 'written', 'plan', 'plans', 'check', 'checks', 'test', 'tests', 'work',
  'works', 'best', 'strong', 'fast', 'model', 'does', 'everything', 'bit', 'number', 'numbers', 'user', 'question', 'file', 'files', 'javascript',
]);

/** Of each list no more than so many are told. */
const MOST_TOLD = 3;

export function digestOf(question: string, pool: readonly { readonly description?: string | undefined }[]): WorkerDigest {
  const asked = stems(question);
  const workers = pool.map(({ description = '' }) => {
    const clauses = description.split(CLAUSES).filter((clause) => clause.trim() !== '' && !RESERVATION.test(clause))
      .map((clause) => ({ role: roleOf(clause), shared: [...stems(clause)].filter((stem) => asked.has(stem)).length }));
    const praise = (role: DigestRole): number => Math.max(0, ...clauses.filter((clause) => clause.role === role).map(({ shared }) => 1 + shared));
    return {
      plan: praise('plan'), write: praise('write'), check: praise('check'),
      near: Math.max(0, ...clauses.map(({ shared }) => shared)), cheap: Number(CHEAP.test(description)),
    };
  });
  const ranked = (by: keyof WorkerDigest): number[] => workers.map((worker, ordinal) => ({ ordinal, score: worker[by] })).filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.ordinal - b.ordinal).slice(0, MOST_TOLD).map(({ ordinal }) => ordinal);
  return { plan: ranked('plan'), write: ranked('write'), check: ranked('check'), near: ranked('near'), cheap: ranked('cheap') };
}

/** As conductor-mini names who does a step, so that it need only repeat it: "plan2, write0, near1, cheap3". Empty where nothing is known. */
export function digestLine({ near, cheap, ...roles }: WorkerDigest): string {
  return [
    ...ROLES.flatMap((role) => roles[role].map((ordinal) => `${role}${ordinal}`)),
    ...near.map((ordinal) => `near${ordinal}`),
    ...cheap.map((ordinal) => `cheap${ordinal}`),
  ].join(', ');
}

/** The one whose word comes first: "finds faults in code" is no praise for writing. */
function roleOf(clause: string): DigestRole | undefined {
  const found = ROLES.map((role) => ({ role, at: clause.search(ROLE_WORDS[role]) })).filter(({ at }) => at >= 0);
  return found.sort((a, b) => a.at - b.at)[0]?.role;
}

/** Words without their endings, names of functions taken apart. */
function stems(text: string): Set<string> {
  const words = text.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase().match(/\p{L}{3,}/gu) ?? [];
  return new Set(words.filter((word) => !COMMON.has(word)).map((word) => word.replace(/(?:ings?|ed|e?s|e)$/, '')).filter((stem) => stem.length > 2));
}
