import type * as vscode from 'vscode';
import type { StoredEvent } from '../../backend/protocol/run-events.ts';
import type { Verification } from '../../backend/protocol/panel-messages.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import type { RunList } from '../runs/run-list.ts';
import type { RunStore } from '../runs/run-store.ts';
import type { RunSubscriptions } from '../runs/run-subscriptions.ts';
import type { SolveCommand } from '../runs/solve-command.ts';

/** What the participant and the tools use of the rest of the extension. */
export interface ChatParts {
  readonly connection: BackendConnection;
  readonly subscriptions: RunSubscriptions;
  /** The run that the panel shows. */
  readonly runs: Pick<RunStore, 'run'>;
  readonly list: Pick<RunList, 'find'>;
  readonly solve: Pick<SolveCommand, 'start' | 'request' | 'show' | 'requireWorker'>;
  readonly extensionFolder: vscode.Uri;
  /** A folder of this window alone, which need not exist. */
  readonly storage: vscode.Uri;
  readonly version: string;
  /** Shows a verdict on the person's own changes in the panel. */
  readonly onVerification: (result: Pick<Verification, 'folder' | 'verdict' | 'commit' | 'problem'>) => void;
  /** An event of a run that the panel does not show. */
  readonly onEvent: (event: StoredEvent) => void;
}
