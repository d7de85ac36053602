import type { Readable } from 'node:stream';
import type { EvaluationRequest, OpenedEvaluation, WhilePreparing } from '../eval/evaluation/request.ts';
import type { DeviceProbe } from '../lm/device/device-probe.ts';
import type { DeviceTrial } from '../lm/device/device-trial.ts';
import type { TrialRequest } from '../lm/process/device-trials.ts';
import type { ModelClient, ModelClientOptions } from '../lm/process/model-client.ts';
import type { BackendClient } from '../protocol/client/backend-client.ts';
import type { Simulation } from '../protocol/simulation.ts';
import type { LocalSettings } from '../protocol/worker-config.ts';
import type { Verifier } from '../verify/verify.ts';
import type { Terminal } from './terminal.ts';

/** Answers the backend's questions to the user. @throws RequestError if another client should answer. */
export type Confirm = (
  question: { readonly title: string; readonly detail: string; readonly runId?: string | undefined }, signal: AbortSignal,
) => Promise<boolean>;

export interface ConnectChoices {
  /** Absent if the command follows no run. The backend then cannot ask this client. */
  readonly confirm?: Confirm | undefined;
  /** Looks up a key that the environment lacks. */
  readonly key?: ((name: string) => string | undefined) | undefined;
  /** Folder of Conductor's files; the user's own if absent. */
  readonly home?: string | undefined;
}

/** A verifier in this process, and its temporary folders. */
export interface Verification {
  readonly verifier: Pick<Verifier, 'verify' | 'testBase'>;
  /** @returns the path of a folder for the caller to create */
  newFolder(): Promise<string>;
  /** Removes every folder. */
  close(): Promise<void>;
}

/** What the composition root provides to each command. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly currentFolder: string;
  /** Connects to the user's backend. Starts it if it is not running. */
  readonly connect: (choices?: ConnectChoices) => Promise<BackendClient>;
  /** The simulation of the user's backend; undefined if none runs. Starts nothing. */
  readonly runningSimulation: () => Promise<Simulation | undefined>;
  /** @returns false if no backend was running. */
  readonly stopBackend: (home?: string) => Promise<boolean>;
  readonly standardInput: () => Readable;
  /** Replaces a file atomically. */
  readonly writeWhole: (file: string, text: string) => Promise<void>;
  /** Does not start the model yet. The caller closes it. */
  readonly openModel: (options: Pick<ModelClientOptions, 'settings' | 'chooseDevice' | 'onStatus'>) => Promise<ModelClient>;
  /** Tries a device, unless it was tried before. @throws DeviceError; the signal's reason */
  readonly findTrial: (request: Omit<TrialRequest, 'script'>) => Promise<DeviceTrial>;
  /** The caller closes it. */
  readonly openVerification: () => Promise<Verification>;
  /** The caller closes it. */
  readonly openEvaluation: (request: EvaluationRequest, preparing: WhilePreparing) => Promise<OpenedEvaluation>;
  /** Conductor's own folder (absolute). */
  readonly conductorFolder: string;
  readonly deviceProbe: DeviceProbe;
  /** The settings of workers.json for local models. @throws an error that says what is wrong with the file */
  readonly localSettings: () => Promise<LocalSettings>;
  /** Aborts on the first Ctrl+C. An interrupted command throws the signal's reason. */
  readonly interrupted: AbortSignal;
  /** Sets the word printed on the first Ctrl+C; `Cancelling` by default. */
  readonly interruptMeans: (word: string) => void;
}

/** @returns the exit code. @throws UsageError, or any error whose message is for users. */
export type Command = (args: readonly string[], context: CommandContext) => Promise<number>;
