import { DuplicateKeyError, type KeyHolder } from '../common/hashed-keys.ts';
import { prepareHome } from '../protocol/client/discovery.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { printable } from './terminal.ts';
import { UsageError } from './usage-error.ts';

export interface KeyCommandOptions<Holder extends KeyHolder> {
  readonly keys: {
    list(): Promise<Holder[]>;
    /** @throws DuplicateKeyError */
    add(name: string, notes: Record<never, never>): Promise<string>;
    remove(name: string): Promise<boolean>;
  };
  /** Such as `serve key`. */
  readonly name: string;
  /** Whom keys are for, such as `program`. */
  readonly what: string;
  /** Behind the name in a list. */
  readonly notes?: ((holder: Holder) => string) | undefined;
}

/** `conductor … key [add NAME|list|remove NAME]`: keys that others show, of which only hashes are kept. */
export async function keyCommand<Holder extends KeyHolder>(
  [action, name, ...others]: readonly string[], { json }: { readonly json?: boolean | undefined }, { keys, name: command, what, notes = () => '' }: KeyCommandOptions<Holder>,
  { terminal, conductorFolder }: Pick<CommandContext, 'terminal' | 'conductorFolder'>,
): Promise<number> {
  if (others.length > 0 || (action === 'list') !== (name === undefined)) throw new UsageError(`"${command}" takes: add NAME, list, or remove NAME.`);
  await prepareHome(conductorFolder);
  switch (action) {
    case 'list': {
      const holders = await keys.list();
      if (json) terminal.result(JSON.stringify(holders, undefined, 2));
      else for (const holder of holders) terminal.result(printable(`${holder.name}${notes(holder)}`));
      if (holders.length === 0 && !json) terminal.say(`No ${what} has a key.`);
      return EXIT.ok;
    }
    case 'add': {
      if (!/^[\w .-]{1,64}$/.test(name ?? '')) throw new UsageError('A name has 1 to 64 letters, digits, spaces, dots, dashes.');
      try {
        terminal.result(await keys.add(name as string, {}));
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
      throw new UsageError(`"${command}" takes: add NAME, list, or remove NAME.`);
  }
}
