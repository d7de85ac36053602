import type { Plan } from '../protocol/plan.ts';
import { MOST_STEPS } from '../protocol/plan-limits.ts';
import { printable } from './terminal.ts';

/*
 * A plan as a small text that a person changes in an editor:
 *
 *     step 1: atlas
 *       Find the cause.
 *
 *     step 2: birch, reads 1
 *       Mend it.
 *
 * The backend checks the plan again by the rules for every plan.
 */

/** What is wrong with the text, in one sentence that names the line. */
export class PlanTextError extends Error {
  override readonly name = 'PlanTextError';
}

/** The text for an editor, with a few lines of help. @param workers ids of the pool, in the order of their ordinals */
export function planText(plan: Plan, workers: readonly string[]): string {
  return [...help(workers), '', stepsText(plan, workers)].join('\n');
}

export function stepsText({ modelIds, subtasks, accessList }: Plan, workers: readonly string[]): string {
  const steps = modelIds.map((worker, index) => [
    `step ${index + 1}: ${[workers[worker] ?? `worker-${worker}`, ...readsText(accessList[index] ?? [])].join(', ')}`,
    ...printable(subtasks[index] ?? '').split('\n').map((line) => (line === '' ? '' : `  ${line}`)),
  ].join('\n'));
  return steps.flatMap((step) => [step, '']).join('\n');
}

function help(workers: readonly string[]): string[] {
  return [
    '# Change the plan, save, and close the editor. Lines that begin with # are left out.',
    '# A step is "step NAME: WORKER", or "step NAME: WORKER, reads NAME, NAME", then its instruction, indented. The last step gives the answer.',
    '# A step reads earlier steps only; "reads all" reads all of them, and the round before. What a step does not read, it does not know.',
    `# At most ${MOST_STEPS} steps. Workers: ${workers.join(', ')}`,
    '# To leave the plan as it is, remove everything.',
  ];
}

function readsText(access: Plan['accessList'][number]): string[] {
  if (access === 'all') return ['reads all'];
  return access.length === 0 ? [] : [`reads ${access.map((read) => read + 1).join(', ')}`];
}

const HEAD = /^step\s+([^\s:]+)\s*:\s*([^\s,]+)\s*(?:,?\s*reads\s+(.+?))?\s*$/i;

interface ReadStep {
  readonly name: string;
  readonly worker: number;
  readonly reads: Plan['accessList'][number];
  readonly lines: string[];
}

/** @returns undefined for a text without a step, which leaves the plan as it is @throws PlanTextError */
export function planOfText(text: string, workers: readonly string[]): Plan | undefined {
  const steps: ReadStep[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.startsWith('#')) continue;
    const last = steps.at(-1);
    if (/^step\b/i.test(line)) steps.push(headOf(line, index + 1, { steps, workers }));
    else if (last) last.lines.push(line.replace(/^ {1,2}|^\t/, ''));
    else if (line.trim() !== '') throw new PlanTextError(`Line ${index + 1} belongs to no step: a plan begins with "step 1: WORKER".`);
  }
  if (steps.length === 0) return undefined;
  const subtasks = steps.map(({ lines }) => lines.join('\n').trim());
  const empty = subtasks.indexOf('');
  if (empty >= 0) throw new PlanTextError(`Step ${steps[empty]?.name ?? ''} has no instruction.`);
  return { modelIds: steps.map(({ worker }) => worker), subtasks, accessList: steps.map(({ reads }) => reads) };
}

function headOf(line: string, number: number, { steps, workers }: { readonly steps: readonly ReadStep[]; readonly workers: readonly string[] }): ReadStep {
  const [, name, id = '', reads] = HEAD.exec(line) ?? [];
  if (name === undefined) throw new PlanTextError(`Line ${number} is no step: write "step NAME: WORKER", or "step NAME: WORKER, reads NAME".`);
  if (steps.some((step) => step.name === name)) throw new PlanTextError(`Line ${number}: there are two steps "${name}".`);
  const worker = workers.indexOf(id);
  if (worker < 0) throw new PlanTextError(`Line ${number}: there is no worker "${id}"; there are ${workers.join(', ')}.`);
  return { name, worker, reads: readsOf(reads, steps, (read) => new PlanTextError(`Line ${number}: "${read}" is no earlier step.`)), lines: [] };
}

function readsOf(text: string | undefined, steps: readonly ReadStep[], problem: (read: string) => PlanTextError): Plan['accessList'][number] {
  const words = (text ?? '').split(/[\s,]+/).filter((word) => word !== '' && word.toLowerCase() !== 'and');
  if (words.some((word) => word.toLowerCase() === 'all')) return 'all';
  const reads = words.map((word) => {
    const at = steps.findIndex(({ name }) => name === word);
    if (at < 0) throw problem(word);
    return at;
  });
  return [...new Set(reads)].sort((a, b) => a - b);
}
