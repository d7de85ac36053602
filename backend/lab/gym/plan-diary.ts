import { appendFile, readFile, writeFile } from 'node:fs/promises';
import * as z from 'zod';
import { parsePlan } from '../../conductor/parse-plan.ts';
import { readRole, ROLES, type Role } from '../../simulator/roles.ts';
import { countPlans } from '../../train/rollouts/plan-metrics.ts';
import { MAX_STEPS } from '../../workflow/plan.ts';

const counts = z.record(z.string(), z.int().min(0));

export const planEntrySchema = z.object({
  /** From 1. */
  step: z.int().min(1),
  /** Kind of the question. */
  kind: z.string(),
  /** Number of sampled texts, including invalid plans. */
  sampled: z.int().min(0),
  /** Number of plans with one step, two steps and so on. */
  lengths: z.array(z.int().min(0)).length(MAX_STEPS),
  /** How often each worker, by id, had each role. */
  workers: z.object(Object.fromEntries(ROLES.map((role) => [role, counts])) as Record<Role, typeof counts>),
});

/** Statistics of the plans for one question in one training step. */
export type PlanEntry = z.infer<typeof planEntrySchema>;

export function planEntry(
  texts: readonly string[], { step, kind, pool }: { readonly step: number; readonly kind: string; readonly pool: readonly { readonly id: string }[] },
): PlanEntry {
  const plans = texts.flatMap((text) => {
    const parsed = parsePlan(text, { workerCount: pool.length, round: 0 });
    return parsed.kind === 'plan' ? [{ plan: parsed.plan, pool }] : [];
  });
  const { lengths, workers } = countPlans(plans, (subtask) => readRole(subtask).role);
  return { step, kind, sampled: texts.length, lengths: [...lengths], workers };
}

/** Records how plans change during a training: a file (absolute) with a line for each question of each step. */
export class PlanDiary {
  readonly #file: string;
  readonly #entries: PlanEntry[];

  private constructor(file: string, entries: PlanEntry[]) {
    this.#file = file;
    this.#entries = entries;
  }

  /** Continues after the completed steps. Lines of later steps are deleted, because those steps are repeated. */
  static async open(file: string, { stepsDone }: { readonly stepsDone: number }): Promise<PlanDiary> {
    const lines = stepsDone === 0 ? [] : (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
    const entries = lines.map((line) => planEntrySchema.parse(JSON.parse(line))).filter(({ step }) => step <= stepsDone);
    await writeFile(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    return new PlanDiary(file, entries);
  }

  async add(entry: PlanEntry): Promise<void> {
    this.#entries.push(entry);
    await appendFile(this.#file, `${JSON.stringify(entry)}\n`);
  }

  get entries(): readonly PlanEntry[] {
    return this.#entries;
  }
}
