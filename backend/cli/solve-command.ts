import { solveRequest } from './arguments.ts';
import type { Command } from './command.ts';
import { exitCodeOf } from './exit-codes.ts';
import { followRun } from './follow-run.ts';
import { RunPrinter } from './run-printer.ts';
import { runResult } from './run-result.ts';

/** `conductor solve "question"`: starts a run, tells it as it goes, and prints its answer. */
export const solveCommand: Command = async (args, { terminal, connect, currentFolder, interrupted }) => {
  const { request, json, yes, requireVerified } = solveRequest(args, currentFolder);
  const client = await connect({ confirm: yes ? true : json ? false : undefined });
  try {
    const { runId } = await client.request('run/start', { request });
    const printer = json ? undefined : new RunPrinter(terminal);
    const run = await followRun({ runId, client, printer, interrupted });
    if (json) terminal.result(JSON.stringify(runResult(run), undefined, 2));
    else printer?.end(run);
    return exitCodeOf(run, { requireVerified });
  } finally {
    client.close();
  }
};
