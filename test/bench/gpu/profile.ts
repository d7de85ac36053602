import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';

/* What onnxruntime's profile of a session says: every node of every run, those inside loops and branches too, and where it ran. */

export interface NodeRuns {
  readonly name: string;
  readonly operator: string;
  readonly provider: string;
  readonly runs: number;
  readonly totalMicroseconds: number;
  readonly outputBytes: number;
  readonly inputTypes: string;
}

interface Event {
  readonly cat?: string;
  readonly name?: string;
  readonly dur?: number;
  readonly args?: {
    readonly op_name?: string;
    readonly provider?: string;
    readonly output_size?: string;
    readonly input_type_shape?: unknown;
  };
}

const SUFFIX = '_kernel_time';

/** Reads the one profile in a folder that begins with `prefix`, and removes it: they are large. */
export async function takeProfile(folder: string, prefix: string): Promise<NodeRuns[]> {
  const name = (await readdir(folder)).find((file) => file.startsWith(prefix) && file.endsWith('.json'));
  if (!name) throw new Error(`onnxruntime left no profile '${prefix}…' in ${folder}.`);
  const file = path.join(folder, name);
  const events = JSON.parse(await readFile(file, 'utf8')) as Event[];
  await rm(file);
  const nodes = new Map<string, NodeRuns>();
  for (const { cat, name: event = '', dur = 0, args } of events) {
    if (cat !== 'Node' || !event.endsWith(SUFFIX) || !args) continue;
    const node = event.slice(0, -SUFFIX.length);
    const { op_name: operator = '', provider = '', output_size = '0', input_type_shape } = args;
    const known = nodes.get(node);
    nodes.set(node, {
      name: node, operator, provider,
      runs: (known?.runs ?? 0) + 1,
      totalMicroseconds: (known?.totalMicroseconds ?? 0) + dur,
      outputBytes: (known?.outputBytes ?? 0) + Number(output_size),
      inputTypes: known?.inputTypes ?? typesOf(input_type_shape),
    });
  }
  return [...nodes.values()];
}

function typesOf(inputs: unknown): string {
  const each = (Array.isArray(inputs) ? inputs : []) as readonly Readonly<Record<string, unknown>>[];
  return each.map((input) => Object.entries(input).map(([type, shape]) => `${type}[${String(shape)}]`).join()).join(' ');
}

export const isCopy = ({ operator }: NodeRuns): boolean => operator.startsWith('Memcpy');

/** Nodes that ran once a step: those of a loop's body. A profile of a generation of `steps` tokens in one chunk is meant. */
export const inEveryStep = (nodes: readonly NodeRuns[], steps: number): NodeRuns[] => nodes.filter(({ runs }) => runs >= steps);
