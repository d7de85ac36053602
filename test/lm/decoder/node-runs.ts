import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { InferenceSession } from 'onnxruntime-node';

/* Where onnxruntime ran the nodes of a session, from its own profile. */

/** How often each node ran, by `provider operator`, such as `CPU Reshape`. */
export type NodeRuns = ReadonlyMap<string, number>;

interface Event {
  readonly cat?: string;
  readonly name?: string;
  readonly args?: { readonly op_name?: string; readonly provider?: string };
}

interface Runtime {
  create(model: Uint8Array, options: object): Promise<InferenceSession>;
}

/** Opens sessions in `work` with onnxruntime's profile on, and reads it when they are closed. */
export async function nodeRuns(work: () => Promise<void>): Promise<NodeRuns> {
  const folder = await mkdtemp(path.join(tmpdir(), 'node-runs-'));
  const runtime = (await import('onnxruntime-node')).default.InferenceSession as unknown as Runtime;
  const { create } = runtime;
  runtime.create = (model, options) => create.call(runtime, model, { ...options, enableProfiling: true, profileFilePrefix: path.join(folder, 'profile') });
  try {
    await work();
    const runs = new Map<string, number>();
    for (const file of await readdir(folder)) {
      for (const { cat, name = '', args } of JSON.parse(await readFile(path.join(folder, file), 'utf8')) as readonly Event[]) {
        if (cat !== 'Node' || !name.endsWith('_kernel_time')) continue;
        const node = `${args?.provider?.replace('ExecutionProvider', '')} ${args?.op_name}`;
        runs.set(node, (runs.get(node) ?? 0) + 1);
      }
    }
    return runs;
  } finally {
    runtime.create = create;
    await rm(folder, { recursive: true, force: true });
  }
}

/** What ran in `more` beyond what ran in `fewer`, for each of `steps` steps. */
export const runsPerStep = (more: NodeRuns, fewer: NodeRuns, steps: number): NodeRuns =>
  new Map([...more].map(([node, runs]) => [node, (runs - (fewer.get(node) ?? 0)) / steps] as const).filter(([, runs]) => runs !== 0));
