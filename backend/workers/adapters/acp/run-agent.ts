import type { Readable, Writable } from 'node:stream';
import type { AgentPlace } from '../../model.ts';
import type { WorkerConfig } from '../../../protocol/worker-config.ts';

export interface AgentStart {
  readonly worker: WorkerConfig;
  /** The value of the worker's key, if it has one. */
  readonly key: string | undefined;
  /** An empty folder if absent. */
  readonly place: AgentPlace | undefined;
  readonly timeoutMs: number;
  /** Ends the agent with all its processes. */
  readonly signal: AbortSignal;
}

export interface AgentStreams {
  readonly input: Writable;
  readonly output: Readable;
  /** The folder in which it works, absolute. */
  readonly folder: string;
}

export interface AgentEnd {
  /** Null if a signal ended it. */
  readonly exitCode: number | null;
  /** Why it was ended, if it was. */
  readonly exceeded?: 'time' | 'memory' | 'processes' | 'disk' | 'output' | undefined;
  /** The end of its standard error. */
  readonly stderr: string;
}

/**
 * Starts the agent of a worker where it can do no harm, and calls `talk` with its streams. Resolves when it has ended with all its processes.
 * @throws WorkerError `not-found` if it cannot be started here; an AbortError
 */
export type RunAgent = (start: AgentStart, talk: (streams: AgentStreams) => void) => Promise<AgentEnd>;
