import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import type { Health, HealthDetails } from '../protocol/methods.ts';
import type { HealthSource } from './client-session.ts';

/** The first version of Node whose `node:sqlite` needs no flag. */
const FIRST_NODE = [22, 13] as const;
/** Loading the native library usually takes less than a second. This leaves time for a cold disk or a busy machine. */
const LOAD_TIMEOUT_MS = 30_000;

export interface NodeFacts {
  /** Such as 22.15.0. */
  readonly version: string;
  /** Built-in modules by name, without `node:`; Electron leaves some out. */
  readonly hasBuiltin: (name: string) => boolean;
}

const OWN_NODE: NodeFacts = {
  version: process.versions.node,
  hasBuiltin: (name) => process.getBuiltinModule?.(`node:${name}`) !== undefined,
};

/** Why the backend cannot run on this Node, in one sentence. Called first, before anything is loaded that needs a newer Node. */
export function nodeProblem({ version, hasBuiltin }: NodeFacts = OWN_NODE): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [firstMajor, firstMinor] = FIRST_NODE;
  const recent = major > firstMajor || (major === firstMajor && minor >= firstMinor);
  if (recent && hasBuiltin('sqlite')) return undefined;
  return (
    `Conductor's backend needs Node ${FIRST_NODE.join('.')} or later with node:sqlite; this is Node ${version}. ` +
    'Set conductor.nodePath to a newer one.'
  );
}

/**
 * Checks in a separate process whether onnxruntime loads: a native library that crashes while loading ends its process.
 * @returns the problem, in one sentence.
 */
export async function onnxruntimeProblem(
  { requireFrom, signal }: { requireFrom: string | URL; signal: AbortSignal },
): Promise<string | undefined> {
  let entry: string;
  try {
    entry = createRequire(requireFrom).resolve('onnxruntime-node');
  } catch {
    return 'Local models are not available: onnxruntime-node is not installed.';
  }
  return new Promise((resolve) => {
    // onnxruntime sends telemetry unless this is set before it is loaded (docs/gpu.md).
    const env = { ...process.env, ORT_DISABLE_TELEMETRY: '1' };
    const options = { timeout: LOAD_TIMEOUT_MS, windowsHide: true, signal, env };
    execFile(process.execPath, ['-e', 'require(process.argv[1])', entry], options, (error, _stdout, stderr) => {
      if (!error) return resolve(undefined);
      const said = stderr.split('\n').find((line) => /^\w*Error\b/.test(line));
      const why = said ?? (error.signal ? `signal ${error.signal}` : 'it crashed');
      resolve(`Local models are not available: onnxruntime-node does not load on this machine (${why.slice(0, 300)}).`);
    });
  });
}

export interface HealthChecks {
  readonly backendVersion: string;
  /** Each resolves with a problem in one sentence, or undefined. */
  readonly problems: readonly Promise<string | undefined>[];
  readonly sandbox: Promise<Health['sandbox']>;
  /** Called for each request for details. */
  readonly look: (signal: AbortSignal) => Promise<Omit<HealthDetails, keyof Health>>;
}

/** The checks run while the backend already answers. Only requests for health wait for them. */
export class BackendHealth implements HealthSource {
  readonly #fixed: Pick<Health, 'backendVersion' | 'node' | 'pid'>;
  readonly #done: Promise<unknown>;
  readonly #look: HealthChecks['look'];
  readonly #problems: string[] = [];
  #sandbox: Health['sandbox'] = { available: false, reason: 'The check has not finished yet.' };

  constructor({ backendVersion, problems, sandbox, look }: HealthChecks) {
    this.#look = look;
    this.#fixed = { backendVersion, node: process.version, pid: process.pid };
    const record = (problem: string | undefined) => {
      if (problem !== undefined) this.#problems.push(problem);
    };
    this.#done = Promise.all([
      ...problems.map((check) => check.then(record, (error: unknown) => record(`A check failed: ${String(error)}`))),
      sandbox.then((found) => { this.#sandbox = found; }, (error: unknown) => {
        this.#sandbox = { available: false, reason: `The check failed: ${String(error)}` };
      }),
    ]);
  }

  current(): Health {
    return { ...this.#fixed, problems: [...this.#problems], sandbox: this.#sandbox };
  }

  async checked(): Promise<Health> {
    await this.#done;
    return this.current();
  }

  async details(signal: AbortSignal): Promise<HealthDetails> {
    const [details] = await Promise.all([this.#look(signal), this.#done]);
    return { ...this.current(), ...details };
  }
}
