import * as vscode from 'vscode';
import type { ClientRequests, ParamsInput } from '../../backend/protocol/methods.ts';
import type { BackendConnection } from '../common/backend-connection.ts';

type Changes = ParamsInput<ClientRequests, 'models/configure'>;

const SECTION = 'conductor.localModel';
const KEYS = ['device', 'precision', 'packageIndex', 'hubEndpoint'] as const satisfies readonly (keyof Changes)[];

/**
 * Sends VS Code's settings for local models to the backend, which stores them in workers.json, also for the command line. Only explicitly
 * set values are sent: VS Code's defaults do not overwrite the file.
 */
export class ModelSettings {
  readonly #connection: BackendConnection;
  readonly #report: (error: unknown) => void;

  constructor(connection: BackendConnection, report: (error: unknown) => void) {
    this.#connection = connection;
    this.#report = report;
    connection.connected.on(() => this.#send(setHere()));
  }

  watch(): vscode.Disposable {
    return vscode.workspace.onDidChangeConfiguration((event) => {
      const changed = KEYS.filter((key) => event.affectsConfiguration(`${SECTION}.${key}`));
      if (changed.length === 0 || this.#connection.state.kind !== 'connected') return;
      const now = setHere();
      // Removing a setting here removes it there.
      this.#send(Object.fromEntries(changed.map((key) => [key, now[key] ?? null])) as Changes);
    });
  }

  #send(changes: Changes): void {
    if (Object.keys(changes).length > 0) this.#connection.request('models/configure', changes).catch(this.#report);
  }
}

/** The explicitly set settings; an empty string counts as not set. */
function setHere(): Changes {
  const settings = vscode.workspace.getConfiguration(SECTION);
  const values = KEYS.map((key) => [key, settings.inspect<string>(key)?.globalValue?.trim()] as const);
  return Object.fromEntries(values.filter(([, value]) => value)) as Changes;
}
