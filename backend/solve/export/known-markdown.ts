import { counted } from '../../common/counted.ts';
import { formatDuration, formatTokens } from '../../protocol/figures.ts';
import type { ContextView, RunSnapshot } from '../../protocol/run-snapshot.ts';
import { code, fenced, words } from './markdown-text.ts';

/* What was known before a plan and its steps, as Markdown: the tests on the code as it is, and what was sent of the project. */

/** What the tests say of the code as it is; nothing where none ran. */
export function baseBlocks({ base }: Pick<RunSnapshot, 'base'>): string[] {
  if (!base) return [];
  const blocks = ['## Tests on the code as it is'];
  if (!base.result) return [...blocks, `${code(base.command)} gave no result before the run ended.`];
  const { total, failed, flaky, leftOut = 0, failing, problem, durationMs } = base.result;
  if (problem !== undefined) return [...blocks, `${code(base.command)} gave no result: ${words(problem)}`];
  const unstable = flaky === 0 ? '' : ` ${counted(flaky, 'test')} ended differently in two runs and ${flaky === 1 ? 'does' : 'do'} not count.`;
  const without = leftOut === 0 ? '' : ` ${counted(leftOut, 'test')} that failed ${leftOut === 1 ? 'is' : 'are'} left out.`;
  const unnamed = failed - failing.length;
  return [
    ...blocks,
    `Of ${counted(total, 'test')}, ${failed === 0 ? 'none fails' : failed === 1 ? '1 fails' : `${failed} fail`}: ${code(base.command)}, ${formatDuration(durationMs)}.${unstable}${without}`,
    ...failing.flatMap(({ id, message, places }) => [
      `- ${[code(id), ...places.map(({ path, startLine, endLine }) => code(`${path}:${startLine}-${endLine}`))].join(', ')}`,
      ...(message === undefined ? [] : [fenced(message)]),
    ]),
    ...(unnamed > 0 ? [`And ${unnamed} more.`] : []),
  ];
}

/** What was sent of the project with a round; nothing where it was sent what the question was first sent with. */
export function contextBlocks({ contexts }: Pick<RunSnapshot, 'contexts'>, round: number): string[] {
  const sent = contexts.filter((context) => context.round === round);
  return sent.flatMap((context, index) => [
    round === 0 && index === 0 ? '## Context' : '### Context',
    whenSent(context, index),
    ...piecesOf(context),
  ]);
}

/** A second context of a round is for its steps, when slow tests have told what fails. */
function whenSent({ pieces, tokens, round }: ContextView, index: number): string {
  const what = `${counted(pieces.length, 'piece')} of the project, ${formatTokens(tokens)} tokens, went to the models`;
  if (index > 0) return `${what} when the tests had said what fails.`;
  return round === 0 ? `${what} with the question.` : `${what} in this round.`;
}

function piecesOf({ pieces, leftOut }: ContextView): string[] {
  const lines = [
    ...pieces.map(({ path, startLine, endLine, reason, tokens }) => `- ${code(`${path}:${startLine}-${endLine}`)}: ${words(reason)}, ${formatTokens(tokens)} tokens`),
    ...leftOut.map(({ path, reason }) => `- not sent: ${code(path)}: ${words(reason)}`),
  ];
  return lines.length > 0 ? [lines.join('\n')] : [];
}
