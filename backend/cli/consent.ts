import { ERROR_CODES } from '../protocol/methods.ts';
import { RequestError } from '../protocol/request-error.ts';
import type { Confirm } from './command.ts';
import type { Terminal } from './terminal.ts';

/**
 * Answers the backend's questions about the run that a command follows. Questions about other runs are left to other clients: `--yes` for
 * one project must not allow anything in another, and a script must not decline questions about another client's run.
 */
export class Consent {
  /** The run that the command follows, as soon as its id is known. */
  runId: string | undefined;
  readonly #terminal: Pick<Terminal, 'ask'>;
  readonly #given: boolean | undefined;

  /** With `yes`, accepts everything. With `json` and without `yes`, or without a terminal, declines everything. */
  constructor(terminal: Pick<Terminal, 'ask'>, { yes = false, json = false }: { yes?: boolean | undefined; json?: boolean | undefined }) {
    this.#terminal = terminal;
    this.#given = yes ? true : json ? false : undefined;
  }

  readonly confirm: Confirm = async ({ title, detail, runId }, signal) => {
    if (runId === undefined || runId !== this.runId) {
      throw new RequestError({ code: ERROR_CODES.refused, kind: 'another-run', message: 'This command line follows another run.' });
    }
    return this.#given ?? (await this.#terminal.ask?.(`${title}\n${detail}\n`, signal)) ?? false;
  };
}
