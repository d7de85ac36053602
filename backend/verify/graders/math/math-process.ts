// Compares results of mathematics in a process of its own, because some of them take for ever or all memory: it may be killed.
import { sameMath } from './equivalence.ts';
import { mathRequestSchema, type MathReply } from './math-messages.ts';

const send = (reply: MathReply): void => void process.send?.(reply);

process.on('message', (message) => {
  const { id, expected, given, tolerance } = mathRequestSchema.parse(message);
  let same = false;
  try {
    same = sameMath(expected, given, tolerance);
  } catch {
    // What the library chokes on is not shown to be the same.
  }
  send({ type: 'compared', id, same });
});
// Nobody is left to ask.
process.on('disconnect', () => process.exit(0));

// The library is loaded lazily in parts: the first comparison must not pay for that out of its time.
sameMath('2', 'x', undefined);
sameMath('\\sqrt{2}', '1', undefined);
send({ type: 'ready' });
