import type { Plan } from '../protocol/plan.ts';
import { PlanTextError, planOfText, stepsText } from './plan-text.ts';
import type { Terminal } from './terminal.ts';

export interface PlanPrompts {
  readonly workers: readonly string[];
  readonly terminal: Pick<Terminal, 'say'>;
  /** Asks for a line of text. */
  readonly ask: (question: string) => Promise<string>;
}

/** Has a person change a plan by questions, where no editor is named. */
export async function planByPrompts(plan: Plan, { workers, terminal, ask }: PlanPrompts): Promise<Plan> {
  for (let now = plan; ;) {
    terminal.say(stepsText(now, workers).trimEnd());
    const answer = (await ask('Which step? (its number, + for a new one at the end, -NUMBER to remove one, Enter: done) ')).trim();
    if (answer === '') return now;
    const [, sign = '', digits = ''] = /^([+-]?)(\d*)$/.exec(answer) ?? [];
    const index = Number(digits) - 1;
    const isThere = digits !== '' && index >= 0 && index < now.modelIds.length;
    if (sign === '+' && digits === '') now = await changed(withNewStep(now), now.modelIds.length, { workers, terminal, ask });
    else if (sign === '-' && isThere) now = withoutStep(now, index);
    else if (sign === '' && isThere) now = await changed(now, index, { workers, terminal, ask });
    else terminal.say(`There is no step "${answer}".`);
  }
}

/** Asks for each part of a step; Enter leaves it as it is. */
async function changed(plan: Plan, index: number, { workers, terminal, ask }: PlanPrompts): Promise<Plan> {
  const worker = workers[plan.modelIds[index] ?? 0] ?? '';
  const access = plan.accessList[index] ?? [];
  const reads = access === 'all' ? 'all' : access.map((read) => read + 1).join(', ') || 'none';
  const id = (await ask(`Worker, of ${workers.join(', ')} [${worker}] `)).trim() || worker;
  const subtask = (await ask('Instruction [Enter: as it is] ')).trim() || (plan.subtasks[index] ?? '');
  const wanted = (await ask(`Reads the steps: their numbers, all, or none [${reads}] `)).trim() || reads;
  // The step is read as the text of an editor is, after the steps before it.
  const before = stepsText(first(plan, index), workers);
  const text = `${before}\nstep ${index + 1}: ${id}${wanted === 'none' ? '' : `, reads ${wanted}`}\n${subtask.split('\n').map((line) => `  ${line}`).join('\n')}`;
  try {
    const read = planOfText(text, workers);
    return read ? replaced(plan, index, read) : plan;
  } catch (error) {
    if (!(error instanceof PlanTextError)) throw error;
    terminal.say(error.message.replace(/^Line \d+: /, ''));
    return subtask === '' ? first(plan, index) : plan;
  }
}

function first({ modelIds, subtasks, accessList }: Plan, count: number): Plan {
  return { modelIds: modelIds.slice(0, count), subtasks: subtasks.slice(0, count), accessList: accessList.slice(0, count) };
}

function replaced(plan: Plan, index: number, { modelIds, subtasks, accessList }: Plan): Plan {
  return {
    modelIds: plan.modelIds.with(index, modelIds[index] ?? 0), subtasks: plan.subtasks.with(index, subtasks[index] ?? ''),
    accessList: plan.accessList.with(index, accessList[index] ?? []),
  };
}

/** A new last step gives the answer, and reads all others. */
function withNewStep({ modelIds, subtasks, accessList }: Plan): Plan {
  return { modelIds: [...modelIds, modelIds.at(-1) ?? 0], subtasks: [...subtasks, ''], accessList: [...accessList, 'all'] };
}

function withoutStep({ modelIds, subtasks, accessList }: Plan, index: number): Plan {
  return {
    modelIds: modelIds.toSpliced(index, 1), subtasks: subtasks.toSpliced(index, 1),
    accessList: accessList.toSpliced(index, 1).map((access) => (access === 'all' ? access : access.filter((read) => read !== index).map((read) => (read > index ? read - 1 : read)))),
  };
}
