import path from 'node:path';
import { counted } from '../../common/counted.ts';
import { formatDuration, formatMoney } from '../../protocol/figures.ts';
import { changeWords } from '../../protocol/earlier-words.ts';
import type { Outcome } from '../../protocol/run-events.ts';
import { mendOf } from '../../protocol/plan-mend-words.ts';
import { pictureWords, type Picture } from '../../protocol/pictures.ts';
import { plannerReason } from '../../protocol/planner-words.ts';
import { localRecordWords, noTryWords } from '../../protocol/local-first-words.ts';
import { answerOf, hasAttempts } from '../../protocol/run-facts.ts';
import { NOTHING_SPENT, type RoundView, type RunSnapshot, type Spent, type StepView } from '../../protocol/run-snapshot.ts';
import { changeKind, passCount, type ChangeKind } from '../../protocol/test-changes.ts';
import { totalTokens } from '../../protocol/token-counts.ts';
import type { TestChange, Verdict } from '../../protocol/verdict.ts';
import { isVerified } from '../../protocol/verdict-facts.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import type { ExportedRun } from './exported-run.ts';
import { baseBlocks, contextBlocks } from './known-markdown.ts';
import { code, fenced, words } from './markdown-text.ts';

/** At most this many pass-to-pass tests are named. */
const MAX_KEPT = 50;

/**
 * The run as a Markdown document. Text by persons, models and tests is fenced, in code or escaped, so that it cannot act as part of the
 * document.
 */
export function runMarkdown({ run, conductor }: ExportedRun): string {
  const blocks = [
    `# Conductor run ${run.runId}`,
    ...head(run),
    ...earlierBlocks(run),
    '## Question',
    fenced(run.request.question),
    ...pictureBlocks(run.request.pictures),
    ...baseBlocks(run),
    ...contextBlocks(run, 0),
    ...run.rounds.flatMap((round) => roundBlocks(run, round)),
    ...answerBlocks(run),
    '## Cost',
    costTable(run),
    `Written by Conductor ${conductor}.`,
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** The conversation that the question continues, as its models were told of it. */
function earlierBlocks({ earlier }: RunSnapshot): string[] {
  if (!earlier) return [];
  return [
    '## Earlier in this conversation',
    ...earlier.exchanges.flatMap(({ runId, question, pictures, result: said, answer, isTold }) => [
      `### Run ${code(runId)}`,
      fenced(question),
      ...pictureBlocks(pictures),
      `${words(said)}${isTold ? '' : ' The models of this run were not told of it.'}`,
      ...(answer === '' ? [] : ['Answer:', fenced(answer)]),
    ]),
    ...(earlier.change ? [words(changeWords(earlier.change))] : []),
  ];
}

function pictureBlocks(pictures: readonly Picture[] = []): string[] {
  return pictures.length === 0 ? [] : [`With ${counted(pictures.length, 'picture')}, not in this file: ${pictures.map(pictureWords).join('; ')}.`];
}

function head(run: RunSnapshot): string[] {
  const { request, pool, policy, acceptedAt, updatedAt, parentId, retried } = run;
  const isSimulated = [...pool, policy.worker].some((worker) => worker?.simulated);
  const from = parentId === undefined
    ? []
    : [retried
        ? `- Asked again: round ${retried.round + 1}, step ${retried.step + 1} of run ${code(parentId)}; what was kept of that run was not paid for again`
        : `- Asked again: the question of run ${code(parentId)}, of other workers`];
  return [
    ...(isSimulated ? ['**SIMULATED: the workers of this run are a simulation. Nothing they say comes from a real model.**'] : []),
    [
      `- Result: **${result(run)}**${run.message ? `: ${words(run.message)}` : ''}`,
      `- Asked: ${new Date(acceptedAt).toISOString()}, took ${formatDuration(updatedAt - acceptedAt)}`,
      ...(request.workspace === undefined ? [] : [`- Project: ${code(path.basename(request.workspace))}`]),
      `- Conductor: ${nameOf(policy.worker, policy.model)}${policy.choice ? `: ${plannerReason(policy.choice.why)}` : ''}`,
      ...pool.map((worker, ordinal) => `- Worker ${ordinal}: ${nameOf(worker)}`),
      ...from,
      `- Cost: ${money(run.spent)} of at most ${formatMoney({ usd: run.budget.runUsd, unpricedTokens: 0 })}`,
      ...localFirstLines(run),
      ...(run.verifiedCost ? [`- A verified answer in this project: ${formatMoney({ usd: run.verifiedCost.usd, unpricedTokens: 0 })} on average, of ${run.verifiedCost.answers}`] : []),
    ].join('\n'),
  ];
}

function localFirstLines({ rounds: [first], noTry }: RunSnapshot): string[] {
  if (noTry !== undefined) return [`- Local first: ${noTryWords(noTry)}`];
  return first?.localTry ? [`- Local first: a worker that costs nothing tried before anybody was paid; before, ${localRecordWords(first.localTry.record).join(', ')}`] : [];
}

function nameOf(worker: WorkerConfig | undefined, otherwise = ''): string {
  if (!worker) return code(otherwise);
  return `${code(worker.id)}, model ${code(worker.model)}${worker.simulated ? ' (simulated)' : ''}`;
}

const OUTCOMES = { verified: 'Verified', passes: 'Tests pass, not verified', 'not-verified': 'Not verified', answered: 'Answered', unchecked: 'Unchecked' } as const satisfies Record<Outcome, string>;

function result({ state, outcome }: RunSnapshot): string {
  switch (state) {
    case 'completed':
      return outcome === undefined ? 'Unchecked' : OUTCOMES[outcome];
    case 'stopped': return 'Stopped at its limit';
    case 'failed': return 'Failed';
    case 'cancelled': return 'Cancelled';
    case 'waiting': return 'Waiting';
    case 'running': return 'Under way';
  }
}

function roundBlocks(run: RunSnapshot, round: RoundView): string[] {
  return [
    `## ${roundName(run, round.index)}`,
    ...(round.failure ? [`${round.localTry ? 'The try' : 'This attempt'} failed: ${words(round.failure.message)}`] : []),
    ...(round.index > 0 ? contextBlocks(run, round.index) : []),
    ...round.rejections.flatMap(({ message, text }) => [`A text of the Conductor was no plan: ${words(message)}`, fenced(text)]),
    ...(round.discarded ?? []).flatMap(({ text, wish }) => [`A person wanted another plan than this one${wish === undefined ? '.' : `: ${words(wish)}`}`, fenced(text)]),
    ...planBlocks(run, round),
    ...round.steps.flatMap((step) => stepBlocks(run, round, step)),
    ...(round.verdict ? verdictBlocks(round.verdict) : []),
    ...changeBlocks(round),
  ];
}

function planBlocks({ pool }: RunSnapshot, round: RoundView): string[] {
  const { steps, kept, planText, planKeptFrom } = round;
  const mend = mendOf(round);
  if (kept) return ['The Conductor kept the answer before.'];
  if (planText === undefined) return ['There is no plan yet.'];
  if (round.localTry) return [];
  const rows = steps.map(({ index, worker, reads, readsPreviousRound, state, durationMs }) => [
    index + 1,
    idOf(pool, worker),
    [...reads.map((read) => read + 1), ...(readsPreviousRound ? ['the round before'] : [])].join(', ') || '–',
    STATES[state],
    durationMs === undefined ? '–' : formatDuration(durationMs),
  ]);
  return [
    '### Plan',
    ...(planKeptFrom === undefined ? [] : [`Kept from run ${code(planKeptFrom)}.`]),
    ...(mend === undefined ? [] : [words(mend)]),
    ...(round.planEdited ? ['A person changed this plan before it ran. What the Conductor planned stands below.'] : []),
    table(['Step', 'Worker', 'Reads', 'State', 'Time'], rows),
    'The Conductor wrote:',
    fenced(planText),
  ];
}

const STATES: Readonly<Record<StepView['state'], string>> = {
  pending: 'not run', running: 'running', completed: 'done', failed: 'failed', skipped: 'skipped',
};

function stepBlocks({ pool }: RunSnapshot, { answer }: RoundView, step: StepView): string[] {
  const { index, worker, subtask, output, failure, skippedBecause, keptFrom, finishReason, handedOn = [], trial } = step;
  return [
    `### Step ${index + 1}: ${idOf(pool, worker)}${answer?.step === index ? ', the answer of the round' : ''}`,
    'Instruction:',
    fenced(subtask),
    ...handedOn.map((before) => `Handed on by ${idOf(pool, before.worker)}, which failed: ${words(before.failure.message)}`),
    ...(keptFrom === undefined ? [] : [`Kept from run ${code(keptFrom)}.`]),
    ...(output === undefined ? [] : ['Output:', fenced(output)]),
    ...(finishReason === undefined || finishReason === 'stop' ? [] : [finishReason === 'stopped' ? 'A person stopped the step before it was done.' : 'The output was cut short by its provider.']),
    ...(trial?.result ? ['The tests, run once with its change, for the steps that read it:', fenced(trial.result.text)] : []),
    ...(failure ? [`Failed: ${words(failure.message)}`] : []),
    ...(skippedBecause === undefined ? [] : [`Skipped: ${words(skippedBecause)}`]),
  ];
}

function verdictBlocks(verdict: Verdict): string[] {
  const { command, sandboxed, durationMs, notes, tests, reason, outcome } = verdict;
  const { passed, total } = passCount(tests);
  const kept = tests.filter((test) => changeKind(test) === 'kept');
  const others = tests.filter((test) => changeKind(test) !== 'kept');
  const unnamed = kept.length - MAX_KEPT;
  return [
    '### Tests',
    `**${isVerified(verdict) ? 'Verified' : VERDICTS[outcome]}**: ${words(reason)}`,
    [
      `- Command: ${code(command)}, ${sandboxed ? 'in the sandbox' : 'without a sandbox'}, ${formatDuration(durationMs)}`,
      ...(total > 0 ? [`- ${passed} of ${total} pass with the answer`] : []),
      ...notes.map((note) => `- Note: ${words(note)}`),
    ].join('\n'),
    ...others.flatMap((test) => [testLine(test), ...(test.message ? [fenced(test.message)] : [])]),
    ...(kept.length > 0 ? [kept.slice(0, MAX_KEPT).map(testLine).join('\n')] : []),
    ...(unnamed > 0 ? [`And ${counted(unnamed, 'test')} more that passed before and after.`] : []),
  ];
}

/** A verdict counts as verified only if all its fields agree. */
const VERDICTS: Readonly<Record<Verdict['outcome'], string>> = {
  verified: 'Not verified', passes: 'Tests pass, not verified', failed: 'Not verified', refused: 'Not accepted for checking',
  infrastructure: 'Could not be checked',
};

function testLine(test: TestChange): string {
  return `- ${KINDS[changeKind(test)]}: ${code(test.id)}, ${test.before} before, ${test.after} after`;
}

const KINDS: Readonly<Record<ChangeKind, string>> = {
  'mended': 'mended', 'broken': '**broken**', 'newly-failing': '**newly failing**', 'still-failing': '**still failing**', 'added': 'added',
  'flaky': 'flaky', 'left-out': 'left out', 'kept': 'kept', 'not-run': 'not run',
};

function changeBlocks({ answer }: RoundView): string[] {
  if (!answer || answer.edits.length + answer.refused.length === 0) return [];
  return [
    '### Changes',
    ...answer.edits.flatMap(({ path: file, kind, diff }) => [`${kind}: ${code(file)}`, fenced(diff, 'diff')]),
    ...answer.refused.map(({ path: file, reason, isUnreadable }) => `${isUnreadable ? 'Not readable' : 'Refused'}: ${code(file)}: ${words(reason)}`),
    ...(answer.leftOut ?? []).map(({ path: file, reason }) => `Left out: ${code(file)}: ${words(reason)}`),
  ];
}

function answerBlocks(run: RunSnapshot): string[] {
  const answer = answerOf(run)?.round;
  if (!answer?.answer) return [];
  return ['## Answer', `The answer is the output of step ${answer.answer.step + 1} in ${roundName(run, answer.index).toLowerCase()}.`];
}

function roundName(run: RunSnapshot, index: number): string {
  return `${hasAttempts(run) ? 'Attempt' : 'Round'} ${index + 1}${run.rounds[index]?.localTry ? ', the local try' : ''}`;
}

function costTable(run: RunSnapshot): string {
  const { rounds, pool, policy, spent } = run;
  const steps = rounds.flatMap((round) => round.steps.map((step) => ({ round, step })));
  const rows = steps.map(({ round, step }) => [
    `${roundName(run, round.index)}, step ${step.index + 1}${step.keptFrom === undefined ? '' : ' (kept)'}`, idOf(pool, step.worker), ...figures(step.spent),
  ]);
  const planning = less(spent, steps.map(({ step }) => step.spent));
  return table(['What', 'Worker', 'Tokens in', 'Tokens out', 'Cost'], [
    ['Plans', code(policy.worker?.id ?? policy.model), ...figures(planning)], ...rows, ['**In all**', '', ...figures(spent)],
  ]);
}

/** A sum without some of its parts. */
function less(all: Spent, parts: readonly Spent[]): Spent {
  const sum = (of: (spent: Spent) => number): number => Math.max(0, of(all) - parts.reduce((total, part) => total + of(part), 0));
  const usd = sum((spent) => spent.usd);
  return {
    // Rounding differences of the summation order count as zero.
    usd: usd < 1e-9 ? 0 : usd,
    unpricedTokens: sum((spent) => spent.unpricedTokens),
    estimated: all.estimated,
    usage: {
      uncachedInput: sum(({ usage }) => usage.uncachedInput), cacheRead: sum(({ usage }) => usage.cacheRead),
      cacheWrite: sum(({ usage }) => usage.cacheWrite), output: sum(({ usage }) => usage.output), reasoning: sum(({ usage }) => usage.reasoning),
      estimated: all.usage.estimated,
    },
  };
}

function figures(spent: Spent): string[] {
  const { uncachedInput, cacheRead, cacheWrite, output, reasoning } = spent.usage;
  if (totalTokens(spent.usage) === 0) return ['–', '–', spent.usd > 0 ? money(spent) : '–'];
  return [String(uncachedInput + cacheRead + cacheWrite), String(output + reasoning), money(spent)];
}

const money = (spent: Spent = NOTHING_SPENT): string => formatMoney(spent);

/** Ids contain letters, digits, dots, dashes and underscores only. */
const idOf = (pool: readonly WorkerConfig[], ordinal: number): string => code(pool[ordinal]?.id ?? `worker ${ordinal}`);

/** Cells hold our own words or ids of workers. */
function table(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
