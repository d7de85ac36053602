import path from 'node:path';
import type { PlanEntry, ToolCall, ToolCallContent, ToolCallStatus } from '@agentclientprotocol/sdk';
import { clip } from '../../common/clip.ts';
import { counted } from '../../common/counted.ts';
import { formatDuration, formatMoney, formatStepSpent, formatTokens } from '../../protocol/figures.ts';
import { mendOf } from '../../protocol/plan-mend-words.ts';
import { hasAttempts } from '../../protocol/run-facts.ts';
import { isOver, type RoundView, type RunSnapshot, type StepView, type TurnView } from '../../protocol/run-snapshot.ts';
import { verdictText } from '../../protocol/tool-texts.ts';
import { isVerified, passesOnly } from '../../protocol/verdict-facts.ts';
import { costWords, estimateReasons } from '../../protocol/work-estimate-words.ts';
import { oneLine, printable } from '../terminal.ts';

/*
 * A run as an editor shows it: a plan, and tool calls for what is done. All of it is a function of the snapshot, so a run that goes on and
 * one that is shown again later look alike. Texts of models are clipped and without control characters.
 */

export interface ShownRun {
  readonly plan: readonly PlanEntry[];
  readonly calls: readonly ToolCall[];
}

const MAX_LINE = 100;
const MAX_ENTRY = 300;
const MAX_OUTPUT = 20_000;
const MAX_PIECES = 50;
const MAX_TURNS = 30;

export function shownRun(run: RunSnapshot): ShownRun {
  return { plan: planOf(run), calls: [...contextCall(run), ...baseCall(run), ...run.rounds.flatMap((round) => callsOf(run, round))] };
}

/** The id of the call that shows the plan of a round. After a person has refused a plan, the next one gets another id. */
export const planCallId = ({ runId }: Pick<RunSnapshot, 'runId'>, round: RoundView): string => `${placeOf(runId, round)}/plan`;

/** The plan in words: who does what, what each step reads, and what it is expected to cost if it waits for a person. */
export function planText(run: RunSnapshot, round: RoundView): string {
  const steps = round.steps.map(({ index, worker, subtask, reads }) =>
    `${index + 1}. ${nameOf(run, worker)}${reads.length > 0 ? ` (reads ${reads.map((read) => read + 1).join(', ')})` : ''}: ${subtask}`);
  const { estimate } = round.review ?? {};
  return [
    ...steps,
    ...(mendOf(round) === undefined ? [] : [`Mended: ${mendOf(round)}`]),
    ...(estimate ? [`Expected cost: ${costWords(estimate)}. ${estimateReasons(estimate).join(' ')}`] : []),
  ].join('\n');
}

export const textContent = (text: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text: printable(text) } });

/**
 * The plans of all attempts, or else the plan of the last round. The protocol has no state for an entry that failed: it is `completed`, and its
 * tool call says why it failed.
 */
function planOf(run: RunSnapshot): PlanEntry[] {
  const planned = run.rounds.filter(({ steps }) => steps.length > 0);
  return (hasAttempts(run) ? planned : planned.slice(-1)).flatMap((round) => {
    const attempt = hasAttempts(run) ? `Attempt ${round.index + 1}: ` : '';
    const steps = round.steps.map(({ worker, subtask, state }) =>
      entry(`${attempt}${nameOf(run, worker)}: ${oneLine(subtask, MAX_ENTRY)}`, state === 'pending' ? 'pending' : state === 'running' && !isOver(run.state) ? 'in_progress' : 'completed'));
    if (!run.base && !round.verifying && !round.verdict) return steps;
    return [...steps, entry(`${attempt}the project’s tests judge it`, round.verdict ? 'completed' : round.verifying && !isOver(run.state) ? 'in_progress' : 'pending')];
  });
}

const entry = (content: string, status: PlanEntry['status']): PlanEntry => ({ content, priority: 'medium', status });

function contextCall({ runId, context, request: { workspace } }: RunSnapshot): ToolCall[] {
  if (!context) return [];
  const { pieces, tokens, leftOut } = context;
  return [{
    toolCallId: `${runId}/context`, kind: 'search', status: 'completed',
    title: `Context: ${counted(pieces.length, 'piece')}, ${formatTokens(tokens)} tokens are sent to the models`,
    ...(workspace !== undefined && { locations: pieces.slice(0, MAX_PIECES).map((piece) => ({ path: path.join(workspace, piece.path), line: piece.startLine })) }),
    content: [textContent([
      ...pieces.map((piece) => `${piece.path}:${piece.startLine}-${piece.endLine}`), ...leftOut.map((one) => `not sent: ${one.path} (${one.reason})`),
    ].join('\n'))],
  }];
}

function baseCall(run: RunSnapshot): ToolCall[] {
  const { runId, base } = run;
  if (!base) return [];
  const { command, result } = base;
  const title = `Tests on the code as it is: ${oneLine(command, MAX_LINE)}`;
  if (!result) return [{ toolCallId: `${runId}/base`, kind: 'execute', title, status: unfinished(run) }];
  const { total, failed, failing, problem, durationMs } = result;
  const said = problem ?? `${counted(total, 'test')}, ${failed} failed, ${formatDuration(durationMs)}`;
  return [{
    toolCallId: `${runId}/base`, kind: 'execute', title, status: problem === undefined ? 'completed' : 'failed',
    content: [textContent([said, ...failing.map(({ id, message = '' }) => `- ${id}${message === '' ? '' : `: ${oneLine(message, MAX_ENTRY)}`}`)].join('\n'))],
  }];
}

function callsOf(run: RunSnapshot, round: RoundView): ToolCall[] {
  return [...planCall(run, round), ...round.steps.flatMap((step) => stepCall(run, round, step)), ...verifyCall(run, round)];
}

function planCall(run: RunSnapshot, round: RoundView): ToolCall[] {
  const { index, plan, kept, planAttempt, review, planSpent, planDurationMs, failure } = round;
  if (!plan && !kept && !planAttempt) return [];
  const planner = printable(run.policy.worker?.id ?? run.policy.model);
  const which = index === 0 ? '' : hasAttempts(run) ? ` attempt ${index + 1}` : ` round ${index + 1}`;
  const call = { toolCallId: planCallId(run, round), kind: 'think' as const };
  if (kept) return [{ ...call, title: `${planner} keeps the answer as it is`, status: 'completed' }];
  if (!plan) return [{ ...call, title: `${planner} plans${which}`, status: failure ? 'failed' : unfinished(run) }];
  const isWaiting = review?.state === 'waiting';
  const facts = [...(planSpent && run.policy.kind !== 'local' ? [formatMoney(planSpent)] : []), ...(planDurationMs === undefined ? [] : [formatDuration(planDurationMs)])];
  return [{
    ...call, status: isWaiting ? (isOver(run.state) ? 'failed' : 'pending') : 'completed',
    title: isWaiting && review ? `The plan of ${planner} waits for you. Expected cost: ${costWords(review.estimate)}` : [`Plan of ${planner}${which}`, ...facts].join(' · '),
    content: [textContent(planText(run, round))],
  }];
}

function stepCall(run: RunSnapshot, round: RoundView, step: StepView): ToolCall[] {
  const { index, state, worker, subtask, output, failure, skippedBecause, handedOn = [], turns = [], trial, durationMs } = step;
  if (state === 'pending') return [];
  const facts = state === 'completed' ? [...formatStepSpent(step.spent), ...(durationMs === undefined ? [] : [formatDuration(durationMs)])] : [];
  const attempt = hasAttempts(run) ? `Attempt ${round.index + 1}, step` : 'Step';
  const lines = [
    ...handedOn.map((one) => `${nameOf(run, one.worker)} failed: ${one.failure.message}`),
    ...(state === 'running' ? turns.slice(-MAX_TURNS).map(turnLine) : []),
    ...(output === undefined ? [] : [clip(output, MAX_OUTPUT)]),
    ...(trial?.result ? [`Tests with its change: ${trial.result.problem ?? `${trial.result.passed} pass, ${trial.result.failed} fail`}`] : []),
    ...(failure ? [failure.message] : []),
    ...(skippedBecause === undefined ? [] : [`Skipped: ${skippedBecause}`]),
  ];
  return [{
    toolCallId: `${placeOf(run.runId, round)}/step/${index}`, kind: (step.changes?.length ?? 0) > 0 ? 'edit' : 'think',
    title: [`${attempt} ${index + 1}, ${nameOf(run, worker)}: ${oneLine(subtask, MAX_LINE)}`, ...facts].join(' · '),
    status: state === 'running' ? unfinished(run) : state === 'completed' ? 'completed' : 'failed',
    ...(lines.length > 0 && { content: [textContent(lines.join('\n\n'))] }),
  }];
}

/** What a worker with hands, or an agent, did in one turn. */
function turnLine({ reply, calls = [] }: TurnView): string {
  const [call] = calls;
  return `· ${oneLine(call ? `${call.name} ${call.arguments}` : reply, MAX_LINE)}`;
}

function verifyCall(run: RunSnapshot, round: RoundView): ToolCall[] {
  const { verifying, verdict } = round;
  const command = verifying?.command ?? verdict?.command;
  if (command === undefined) return [];
  const place = verifying && !verifying.sandboxed ? ' (without a sandbox)' : '';
  return [{
    toolCallId: `${placeOf(run.runId, round)}/verify`, kind: 'execute', title: `Tests on the answer: ${oneLine(command, MAX_LINE)}${place}`,
    status: verdict ? (isVerified(verdict) || passesOnly(verdict) ? 'completed' : 'failed') : unfinished(run),
    ...(verdict && { content: [textContent(verdictText(verdict))] }),
  }];
}

const placeOf = (runId: string, { index, discarded = [] }: RoundView): string => `${runId}/${index}/${discarded.length}`;

/** What has begun and not ended is at work, unless the run has ended. */
const unfinished = ({ state }: RunSnapshot): ToolCallStatus => (isOver(state) ? 'failed' : 'in_progress');

const nameOf = ({ pool }: RunSnapshot, worker: number): string => {
  const { id, simulated = false } = pool[worker] ?? { id: `worker ${worker}` };
  return printable(simulated ? `${id} (simulated)` : id);
};
