import { prepareHome } from '../protocol/client/discovery.ts';
import { DuplicateKeyError } from '../common/hashed-keys.ts';
import { formatMoney } from '../protocol/figures.ts';
import { readArguments, whole } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
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
  if (what === 'key') return await keyCommand(rest, values, keys, context);
  if (what !== undefined) throw new UsageError('"serve" takes --port N and --until-input-ends, or: key add NAME, key list, key remove NAME.');
  const { terminal, connect, interrupted, interruptMeans, standardInput } = context;
  const port = values.port === undefined ? DEFAULT_PORT : whole(values.port, '--port', { from: 0, to: 65_535 });
  interruptMeans('Ending');
  const endpoint = await openEndpoint({ keys, given: new GivenItems({ home: context.conductorFolder, keys }), connect: () => connect(), port, log: (line) => terminal.say(printable(line)) }).catch((error: unknown) => {
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

async function keyCommand(
  [action, name, ...others]: readonly string[], values: { readonly 'max-usd'?: string | undefined; readonly json?: boolean | undefined }, keys: ClientKeys, { terminal, conductorFolder }: CommandContext,
): Promise<number> {
  if (others.length > 0 || (action === 'list') !== (name === undefined)) throw new UsageError('"serve key" takes: add NAME, list, or remove NAME.');
  await prepareHome(conductorFolder);
  switch (action) {
    case 'list': {
      const accounts = await keys.list();
      if (values.json) terminal.result(JSON.stringify(accounts, undefined, 2));
      else for (const { name: of, maxUsd } of accounts) terminal.result(printable(`${of}${maxUsd === undefined ? '' : `  at most ${formatMoney({ usd: maxUsd, unpricedTokens: 0 })}`}`));
      if (accounts.length === 0 && !values.json) terminal.say('No program has a key.');
      return EXIT.ok;
    }
    case 'add': {
      if (!/^[\w .-]{1,64}$/.test(name ?? '')) throw new UsageError('A name has 1 to 64 letters, digits, spaces, dots, dashes.');
      const maxUsd = values['max-usd'] === undefined ? undefined : Number(values['max-usd']);
      if (maxUsd !== undefined && !(maxUsd > 0 && Number.isFinite(maxUsd))) throw new UsageError('--max-usd takes an amount in dollars.');
      try {
        terminal.result(await keys.add(name as string, maxUsd));
      } catch (error) {
        throw error instanceof DuplicateKeyError ? new UsageError(error.message) : error;
      }
      terminal.say('This is the only time that the key is shown.');
      return EXIT.ok;
    }
    case 'remove':
      if (!(await keys.remove(name as string))) throw new UsageError(`There is no key for "${name}".`);
      return EXIT.ok;
    default:
      throw new UsageError('"serve key" takes: add NAME, list, or remove NAME.');
  }
}
