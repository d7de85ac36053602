import type { Plan } from '../workflow/plan.ts';

/** A plan as the Conductor writes it. `parsePlan` reads every valid plan back from it. */
export function renderPlan({ modelIds, subtasks, accessList }: Plan): string {
  const access = accessList.map((entry) => (entry === 'all' ? '["all"]' : `[${entry.join(', ')}]`));
  return [
    `model_id = [${modelIds.join(', ')}]`,
    `subtasks = [${subtasks.map((subtask) => JSON.stringify(subtask)).join(', ')}]`,
    `access_list = [${access.join(', ')}]`,
  ].join('\n');
}
