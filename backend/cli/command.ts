import type { Readable } from 'node:stream';
import type { DeviceProbe } from '../lm/device/device-probe.ts';
import type { ModelClient, ModelClientOptions } from '../lm/process/model-client.ts';
import type { BackendClient } from '../protocol/client/backend-client.ts';
import type { LocalSettings } from '../protocol/worker-config.ts';
import type { Verifier } from '../verify/verify.ts';
import type { Terminal } from './terminal.ts';

/** Answers what the backend asks a person. @throws RequestError where another client should be asked. */
export type Confirm = (
  question: { readonly title: string; readonly detail: string; readonly runId?: string | undefined }, signal: AbortSignal,
) => Promise<boolean>;

export interface ConnectChoices {
  /** Absent where the command follows no run: it then offers the backend nobody to ask. */
  readonly confirm?: Confirm | undefined;
  /** Folder of Conductor's files, instead of the user's own. */
  readonly home?: string | undefined;
}

/** A verifier in this process, and what it works with. */
export interface Verification {
  readonly verifier: Pick<Verifier, 'verify'>;
  /** A place for a folder of the caller's own, which is not made yet. */
  newFolder(): Promise<string>;
  /** Removes every folder. */
  close(): Promise<void>;
}

/** What a command is given by the composition root. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly currentFolder: string;
  /** Connects to the user's backend and starts it where none runs. */
  readonly connect: (choices?: ConnectChoices) => Promise<BackendClient>;
  /** @returns false when no backend ran. */
  readonly stopBackend: (home?: string) => Promise<boolean>;
  readonly standardInput: () => Readable;
  /** Replaces a file whole or not at all. */
  readonly writeWhole: (file: string, text: string) => Promise<void>;
  /** Starts nothing yet. Whoever opens a model closes it. */
  readonly openModel: (options: Pick<ModelClientOptions, 'settings' | 'chooseDevice' | 'onStatus'>) => ModelClient;
  /** Whoever opens it closes it. */
  readonly openVerification: () => Promise<Verification>;
  readonly deviceProbe: DeviceProbe;
  /** How models are run and fetched, as workers.json says. @throws an error that says what is wrong with it */
  readonly localSettings: () => Promise<LocalSettings>;
  /** Aborts at the first Ctrl+C; a command that it ends throws its reason. */
  readonly interrupted: AbortSignal;
  /** Says what the first Ctrl+C does from now on, in the word that it is answered with; `Cancelling` until then. */
  readonly interruptMeans: (doing: string) => void;
}

/** @returns the exit code. @throws UsageError, or any error with a sentence for people. */
export type Command = (args: readonly string[], context: CommandContext) => Promise<number>;
