import { Graph } from '../../../backend/lm/graph/graph.ts';
import { add } from '../../../backend/lm/graph/ops/arithmetic.ts';
import { float32s, Session } from '../../../backend/lm/graph/session.ts';

/* The smallest session there is, `y = x + x`:  add.ts cuda|cpu.  Prints y, or what onnxruntime says. */

const graph = new Graph();
const x = graph.input('x', 'float32', [2]);
try {
  const session = await Session.open(graph, { y: add(graph, x, x) }, { device: process.argv[2] === 'cpu' ? 'cpu' : 'cuda' });
  const { y } = await session.run({ x: float32s([2], [1, 2]) }, ['y']);
  console.log(Array.from(y.data, Number).join(' '));
  process.exitCode = y.data[0] === 2 && y.data[1] === 4 ? 0 : 1;
} catch (error) {
  console.log(error instanceof Error ? error.message.split('\n')[0] : String(error));
  process.exitCode = 1;
}
