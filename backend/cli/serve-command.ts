import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { BackendClient } from '../protocol/client/backend-client.ts';
import { formatMoney } from '../protocol/figures.ts';
import { isRefusal } from '../protocol/request-error.ts';
import { ClientKeys } from '../serve/client-keys.ts';
import { readArguments, whole } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { keyCommand } from './key-command.ts';
import { printable } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = { 'port': { type: 'string' }, 'until-input-ends': { type: 'boolean' }, 'max-usd': { type: 'string' }, 'json': { type: 'boolean' } } as const;
const DEFAULT_PORT = 4100;
/** Until a backend that could not be reached is tried again. */
const AGAIN_MS = 2_000;

/** `conductor serve`: OpenAI's Chat Completions and Responses and Anthropic's Messages on this machine, for programs that hold conversations themselves. */
export const serveCommand: Command = async (args, context) => {
  const { values, positionals } = readArguments(args, OPTIONS);
  const [what, ...rest] = positionals;
  const keys = new ClientKeys(context.conductorFolder);
  if (what === 'key') {
    const maxUsd = dollars(values['max-usd']);
    return await keyCommand(rest, values, {
      name: 'serve key', what: 'program',
      keys: { list: () => keys.list(), remove: (name) => keys.remove(name), add: (name) => keys.add(name, maxUsd) },
      notes: ({ maxUsd: most }) => (most === undefined ? '' : `  at most ${formatMoney({ usd: most, unpricedTokens: 0 })}`),
    }, context);
  }
  if (what !== undefined) throw new UsageError('"serve" takes --port N and --until-input-ends, or: key add NAME, key list, key remove NAME.');
  const port = values.port === undefined ? DEFAULT_PORT : whole(values.port, '--port', { from: 0, to: 65_535 });
  const { interrupted, interruptMeans, standardInput } = context;
  interruptMeans('Ending');
  const ending = new AbortController();
  // Whoever started it is gone, however it ended.
  if (values['until-input-ends']) standardInput().once('end', () => ending.abort()).once('error', () => ending.abort()).resume();
  await serve(port, context, { ended: AbortSignal.any([interrupted, ending.signal]), isStartedByProgram: values['until-input-ends'] === true, hasKeys: async () => (await keys.list()).length > 0 });
  return EXIT.ok;
};

interface Serving {
  /** Aborted when nobody is to be served any more. */
  readonly ended: AbortSignal;
  readonly isStartedByProgram: boolean;
  readonly hasKeys: () => Promise<boolean>;
}

/** The backend has the endpoint as long as this process is connected. A backend that was stopped is started again, with the endpoint at its port. */
async function serve(asked: number, { terminal, connect }: CommandContext, { ended, isStartedByProgram, hasKeys }: Serving): Promise<void> {
  const say = (line: string): void => terminal.say(printable(line));
  const open = async (port: number): Promise<{ readonly client: BackendClient; readonly port: number }> => {
    const client = await connect();
    client.on('serve/said', ({ line }) => say(line));
    try {
      return { client, port: (await client.request('serve/open', { port })).port };
    } catch (error) {
      client.close();
      throw error;
    }
  };
  const first = await open(asked).catch((error: unknown) => {
    if (isRefusal(error) && error.kind === 'method-not-found') throw new Error('The running backend is older than this command and serves no programs: end it with "conductor backend stop", then try again.', { cause: error });
    // A program that starts it knows better how its user names a port.
    throw isRefusal(error) && error.kind === 'port-taken' && !isStartedByProgram ? new Error(`${error.message} Name another one with --port.`, { cause: error }) : error;
  });
  terminal.result(`http://127.0.0.1:${first.port}/v1`);
  if (!(await hasKeys())) terminal.say('No program has a key yet: conductor serve key add NAME');
  const over = ended.aborted ? Promise.resolve() : once(ended, 'abort');
  let { client }: { client: BackendClient | undefined } = first;
  let told = '';
  while (!ended.aborted) {
    await Promise.race([client?.closed ?? delay(AGAIN_MS), over]);
    client?.close();
    client = ended.aborted ? undefined : await open(first.port).then((opened) => { told = ''; return opened.client; }, (error: unknown) => {
      const problem = error instanceof Error ? error.message : String(error);
      if (problem !== told) say(`No program is served until this is mended, which is tried again and again: ${problem}`);
      told = problem;
      return undefined;
    });
  }
  client?.close();
}

function dollars(given: string | undefined): number | undefined {
  const usd = given === undefined ? undefined : Number(given);
  if (usd !== undefined && !(usd > 0 && Number.isFinite(usd))) throw new UsageError('--max-usd takes an amount in dollars.');
  return usd;
}
