import type { Graph, Tensor } from '../../../backend/lm/graph/graph.ts';
import { type Feeds, Session, type Values } from '../../../backend/lm/graph/session.ts';

/** What onnxruntime computes of a graph on the CPU. */
export async function evaluate<Name extends string>(
  graph: Graph,
  outputs: Readonly<Record<Name, Tensor>>,
  feeds: Feeds = {},
): Promise<Readonly<Record<Name, Values>>> {
  const session = await Session.open(graph, outputs, { device: 'cpu', threads: 1 });
  try {
    return await session.run(feeds, Object.keys(outputs) as Name[]);
  } finally {
    await session.close();
  }
}

/** The numbers of one output. */
export async function numbersOf(graph: Graph, tensor: Tensor, feeds: Feeds = {}): Promise<number[]> {
  const { value } = await evaluate(graph, { value: tensor }, feeds);
  return Array.from(value.data as ArrayLike<number | bigint>, Number);
}
