import { ERROR_CODES } from '../protocol/methods.ts';
import { RequestError } from '../protocol/request-error.ts';
import type { Confirm } from './command.ts';
import type { Terminal } from './terminal.ts';

/**
 * The user's answer to what the backend asks about the run that a command follows. What is asked about other runs is left to other
 * clients: `--yes` for one project lets nothing run in another, and a script that passes by declines nothing.
 */
export class Consent {
  /** The run that the command follows, once it has an id. */
  runId: string | undefined;
  readonly #terminal: Terminal;
  readonly #given: boolean | undefined;

  /** `yes` consents beforehand; with `json` and without `yes`, or where nobody sits at the terminal, everything is declined. */
  constructor(terminal: Terminal, { yes = false, json = false }: { yes?: boolean | undefined; json?: boolean | undefined }) {
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
