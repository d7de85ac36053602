import type { Plan } from '../workflow/plan.ts';
import { validatePlan, type PlanRejection, type RawPlan } from '../workflow/validate-plan.ts';
import { readList, type Literal } from './python-lists.ts';

export type ParsedPlan =
  | { readonly kind: 'plan'; readonly plan: Plan }
  /** Three explicit empty lists in a later round: the previous answer stands (arXiv 2512.04388 Fig. 14). */
  | { readonly kind: 'keep' }
  | { readonly kind: 'rejected'; readonly rejection: PlanRejection };

export interface ParseOptions {
  readonly workerCount: number;
  /** 0 for the first round, where there is no answer to keep. */
  readonly round: number;
  /** False where the answer before may not be kept, although there is one. */
  readonly mayKeep?: boolean | undefined;
  /** The text was cut off at the token limit. */
  readonly truncated?: boolean;
}

type ListName = keyof RawPlan;

/** The accepted names of each list. Case, underscores and a plural ending are ignored. */
const LABELS: Readonly<Record<ListName, string>> = {
  modelIds: 'model[_ -]?ids?',
  subtasks: 'sub[_ -]?tasks?',
  accessList: 'access(?:[_ -]?lists?)?',
};

const SHOWN: Readonly<Record<ListName, string>> = { modelIds: 'model_id', subtasks: 'subtasks', accessList: 'access_list' };

/** A label, an equals sign or colon, and the opening bracket. Quotes, backticks and a fence may stand between them. */
const LABELLED_LIST = new RegExp(
  `(?<![A-Za-z0-9_])(?:${Object.entries(LABELS).map(([name, label]) => `(?<${name}>${label})`).join('|')})` +
    '["\'`*\\s]{0,8}[:=][`*\\s]{0,16}(?:python|json)?\\s{0,8}(?=\\[)',
  'gi',
);

/** Longer texts are read up to here, in characters. A plan is about a page. */
const MAX_TEXT_LENGTH = 200_000;

/** Parsing stops after this many unreadable lists, since each may cost a scan of the whole text. */
const MAX_FAILED_LISTS = 12;

/**
 * Reads the plan in a Conductor's text: skips the reasoning and takes the first list under each of the three labels (arXiv 2512.04388
 * §3.1). The text is untrusted: nothing is evaluated, and the function never throws.
 */
export function parsePlan(text: string, { workerCount, round, mayKeep = true, truncated = false }: ParseOptions): ParsedPlan {
  const { lists, malformed } = readLists(withoutThinking(text.slice(0, MAX_TEXT_LENGTH)));
  const missing = (Object.keys(SHOWN) as ListName[]).filter((name) => !lists[name]);
  if (missing.length > 0) return rejected(missingLists(missing, malformed, truncated));

  const raw = lists as RawPlan;
  if (round > 0 && mayKeep && Object.values(raw).every((list) => list.length === 0)) return { kind: 'keep' };
  const validation = validatePlan(raw, { workerCount });
  return validation.ok ? { kind: 'plan', plan: validation.plan } : rejected(validation.rejection);
}

const rejected = (rejection: PlanRejection): ParsedPlan => ({ kind: 'rejected', rejection });

/**
 * The text without the model's thinking. Where only the closing tag is present (the chat template wrote the opening one), all text
 * before it is thinking. Where only the opening tag is present, all text after it is.
 */
function withoutThinking(text: string): string {
  const kept: string[] = [];
  let thinking = false;
  let from = 0;
  for (const tag of text.matchAll(/<(\/?)think>/gi)) {
    const closes = tag[1] === '/';
    if (closes && !thinking) kept.length = 0;
    else if (!thinking) kept.push(text.slice(from, tag.index));
    thinking = !closes;
    from = tag.index + tag[0].length;
  }
  if (!thinking) kept.push(text.slice(from));
  return kept.join('\n');
}

/** Searches for labels outside of the lists already read only: a subtask may contain the text model_id = […]. */
function readLists(text: string): { lists: Partial<Record<ListName, Literal[]>>; malformed: Set<ListName> } {
  const lists: Partial<Record<ListName, Literal[]>> = {};
  const malformed = new Set<ListName>();
  const label = new RegExp(LABELLED_LIST);
  let failures = 0;
  for (let match = label.exec(text); match; match = label.exec(text)) {
    const name = (Object.keys(LABELS) as ListName[]).find((candidate) => match?.groups?.[candidate] !== undefined);
    if (!name || lists[name]) continue;
    const read = readList(text, label.lastIndex);
    if (read) {
      lists[name] = read.items;
      label.lastIndex = read.end;
    } else {
      malformed.add(name);
      failures += 1;
      if (failures >= MAX_FAILED_LISTS) break;
    }
  }
  return { lists, malformed };
}

function missingLists(missing: readonly ListName[], malformed: ReadonlySet<ListName>, truncated: boolean): PlanRejection {
  const names = missing.map((name) => SHOWN[name]).join(', ');
  if (truncated) {
    return { reason: 'truncated', message: `The text was cut off before the plan was complete; missing: ${names}. Reason more briefly.` };
  }
  const broken = missing.filter((name) => malformed.has(name));
  if (broken.length > 0) {
    return {
      reason: 'malformed-list',
      message: `${broken.map((name) => SHOWN[name]).join(', ')} is not a complete list: close every bracket and quote.`,
    };
  }
  return { reason: 'missing-list', message: `The text lacks ${names}: a plan is the three lists model_id, subtasks and access_list.` };
}
