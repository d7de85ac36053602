import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { readArguments, whole } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { BlockedChanges } from './gate/blocked-changes.ts';
import { messageId } from './gate/gemini-transcript.ts';
import { judgePush } from './gate/pre-push.ts';
import { decideStop, stopAnswer, type StopDecision } from './gate/stop-decision.ts';
import { readStopInput, type StopInput } from './gate/stop-input.ts';
import { judgeChange } from './judge-change.ts';
import { readAtMost } from '../common/read-at-most.ts';
import { printable } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = { timeout: { type: 'string' }, command: { type: 'string' } } as const;

/** What agents with hooks wait at least. */
const DEFAULT_SECONDS = 25;
const MAX_INPUT_BYTES = 1024 * 1024;

/**
 * `conductor hook stop`: the gate of an agent that is about to stop. Reads the agent's JSON from standard input, judges the uncommitted
 * changes, and answers in JSON. It ends with 0 whatever it finds: an agent is kept by the answer alone, and never by a fault of the gate.
 */
export const hookCommand: Command = async (args, context) => {
  const [event, ...rest] = args;
  if (event !== 'stop' && event !== 'pre-push') throw new UsageError('"hook" takes the event that it is called at: conductor hook stop, or pre-push.');
  const { values, positionals } = readArguments(rest, OPTIONS);
  if (event === 'pre-push') return await prePush(values.command, context);
  if (positionals.length > 0) throw new UsageError(`"hook stop" takes options only (left over: ${positionals.join(' ')}).`);
  const seconds = values.timeout === undefined ? DEFAULT_SECONDS : whole(values.timeout, '--timeout', { from: 1, to: 3_600 });
  const input = readStopInput(await inputText(context));
  if (!input) throw new UsageError('"hook stop" is called by an agent, which writes a JSON object to its standard input; conductor install AGENT sets that up.');
  const decision = await decided(input, { seconds, command: values.command }, context);
  if (!decision.block && decision.tell !== undefined) context.terminal.say(printable(decision.tell));
  context.terminal.result(JSON.stringify(stopAnswer(decision, input.form)));
  return EXIT.ok;
};

/** Git's gate: unlike an agent, Git reads the exit code. */
async function prePush(command: string | undefined, context: CommandContext): Promise<number> {
  const { terminal } = context;
  terminal.say('Conductor judges what is pushed …');
  const decision = await judgePush(await inputText(context), { command }, context);
  const said = decision.block ? decision.reason : decision.tell;
  if (said !== undefined) terminal.say(printable(said));
  return decision.block ? EXIT.failed : EXIT.ok;
}

async function decided(
  { session, message, folder, isContinued }: StopInput, { seconds, command }: { readonly seconds: number; readonly command: string | undefined },
  { openVerification, currentFolder, conductorFolder, interrupted }: CommandContext,
): Promise<StopDecision> {
  const limit = AbortSignal.timeout(seconds * 1_000);
  try {
    const workspace = await realpath(folder ?? path.resolve(currentFolder));
    const blocked = new BlockedChanges(conductorFolder, { session: message === undefined ? session : await taskIn(session, message), workspace });
    /** The change that is judged. Undefined if nothing was changed, or the same change was told of before. */
    let judged: string | undefined;
    const result = await judgeChange({
      workspace, command, openVerification, sandboxed: true,
      signal: AbortSignal.any([interrupted, limit]),
      onProgress: () => {},
      isToJudge: async (digest) => {
        if (!(await blocked.has(digest))) judged = digest;
        return judged !== undefined;
      },
    });
    if (judged === undefined) return { block: false };
    const decision = decideStop(result, { isContinued: isContinued ?? await blocked.hasAny() });
    if (decision.block) await blocked.add(judged);
    return decision;
  } catch (error) {
    interrupted.throwIfAborted();
    if (limit.aborted) return { block: false, tell: `Conductor has not judged this change: its tests did not end within ${seconds} s. A longer limit is set with --timeout, in the hook and in the agent.` };
    // No repository, no commit, or no tests: nothing judges here.
    if (error instanceof UsageError) return { block: false };
    return { block: false, tell: `Conductor has not judged this change: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** A person's message in a session. Where the agent does not record it, the same words are taken for the same message. */
async function taskIn(session: string, { words, transcript }: NonNullable<StopInput['message']>): Promise<string> {
  return JSON.stringify([session, words, transcript === undefined ? undefined : await messageId(transcript, words)]);
}

const inputText = async ({ standardInput }: CommandContext): Promise<string> => (await readAtMost(standardInput(), MAX_INPUT_BYTES)).bytes.toString('utf8');
