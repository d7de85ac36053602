import type { Plan } from '../../../backend/workflow/plan.ts';
import { MISFITS, type Misfit } from './judge.ts';
import { QUESTION_KINDS, type LabelledQuestion } from './questions.ts';

export interface JudgedPlan {
  readonly question: LabelledQuestion;
  readonly plan: Plan | undefined;
  readonly misfits: readonly Misfit[];
}

/** How many plans fit, by kind of question, in Markdown. */
export function table(judged: readonly JudgedPlan[]): string {
  const rows = QUESTION_KINDS.map((kind) => [kind, judged.filter(({ question }) => question.kind === kind)] as const);
  const inEnglish = judged.filter(({ question }) => question.language === 'en');
  const others = judged.filter(({ question }) => question.language !== 'en');
  return [
    '| kind | questions | fit | share | steps |', '| --- | ---: | ---: | ---: | ---: |',
    ...[...rows, ['in English', inEnglish] as const, ['in other languages', others] as const, ['all', judged] as const]
      .filter(([, plans]) => plans.length > 0).map(([name, plans]) => row(name, plans)),
  ].join('\n');
}

function row(name: string, plans: readonly JudgedPlan[]): string {
  const fit = plans.filter(({ misfits }) => misfits.length === 0).length;
  const steps = plans.reduce((sum, { plan }) => sum + (plan?.subtasks.length ?? 0), 0) / plans.length;
  return `| ${name} | ${plans.length} | ${fit} | ${((100 * fit) / plans.length).toFixed(0)} % | ${steps.toFixed(1)} |`;
}

/** How many plans have each misfit. A plan may have several. */
export function misfitTable(judged: readonly JudgedPlan[]): string {
  const counts = (Object.keys(MISFITS) as Misfit[]).map((misfit) => [misfit, judged.filter(({ misfits }) => misfits.includes(misfit)).length] as const);
  return ['| misfit | plans |', '| --- | ---: |', ...counts.filter(([, count]) => count > 0).map(([misfit, count]) => `| ${misfit}: ${MISFITS[misfit]} | ${count} |`)].join('\n');
}

/** A question and its plan, to read. */
export function planned({ question, plan, misfits }: JudgedPlan): string {
  const steps = plan?.subtasks.map((subtask, index) => {
    const access = plan.accessList[index] ?? [];
    const reads = access === 'all' ? (index === 0 ? '' : ', reads all') : access.length > 0 ? `, reads ${access.map((step) => step + 1).join(' and ')}` : '';
    return `  ${index + 1}. (worker ${plan.modelIds[index]}${reads}) ${subtask}`;
  }) ?? [];
  return [
    `${question.id}: ${question.text.length > 400 ? `${question.text.slice(0, 400)} …` : question.text}`,
    ...steps,
    misfits.length === 0 ? '  fits' : `  does not fit: ${misfits.map((misfit) => MISFITS[misfit]).join('; ')}`,
  ].join('\n');
}

/** All questions with their plans, by kind, in Markdown. */
export function dump(judged: readonly JudgedPlan[]): string {
  const kinds = QUESTION_KINDS.filter((kind) => judged.some(({ question }) => question.kind === kind));
  return `${kinds.map((kind) => `## ${kind}\n\n\`\`\`\`text\n${judged.filter(({ question }) => question.kind === kind).map(planned).join('\n\n')}\n\`\`\`\`\n`).join('\n')}`;
}
