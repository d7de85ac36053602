import { formatMoney } from '../protocol/figures.ts';
import { readArguments, whole } from './arguments.ts';
import type { Command } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { keyCommand } from './key-command.ts';
import { ClientKeys } from './serve/client-keys.ts';
import { openEndpoint, PortTakenError } from './serve/endpoint.ts';
import { GivenItems } from './serve/given-items.ts';
import { printable } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = { 'port': { type: 'string' }, 'until-input-ends': { type: 'boolean' }, 'max-usd': { type: 'string' }, 'json': { type: 'boolean' } } as const;
const DEFAULT_PORT = 4100;

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
  const { terminal, connect, interrupted, interruptMeans, standardInput } = context;
  const port = values.port === undefined ? DEFAULT_PORT : whole(values.port, '--port', { from: 0, to: 65_535 });
  interruptMeans('Ending');
  const home = context.conductorFolder;
  const given = { given: new GivenItems({ home, keys }), givenResponses: new GivenItems({ home, keys, folder: 'given-responses' }) };
  const endpoint = await openEndpoint({ keys, ...given, connect: () => connect(), port, log: (line) => terminal.say(printable(line)) }).catch((error: unknown) => {
    // A program that starts it knows better how its user names a port.
    throw error instanceof PortTakenError && !values['until-input-ends'] ? new Error(`${error.message} Name another one with --port.`, { cause: error }) : error;
  });
  terminal.result(`http://127.0.0.1:${endpoint.port}/v1`);
  if ((await keys.list()).length === 0) terminal.say('No program has a key yet: conductor serve key add NAME');
  await new Promise<void>((resolve) => {
    if (interrupted.aborted) resolve();
    interrupted.addEventListener('abort', () => resolve(), { once: true });
    // Whoever started it is gone, however it ended.
    if (values['until-input-ends']) standardInput().once('end', resolve).once('error', () => resolve()).resume();
  });
  await endpoint.close();
  return EXIT.ok;
};

function dollars(given: string | undefined): number | undefined {
  const usd = given === undefined ? undefined : Number(given);
  if (usd !== undefined && !(usd > 0 && Number.isFinite(usd))) throw new UsageError('--max-usd takes an amount in dollars.');
  return usd;
}
