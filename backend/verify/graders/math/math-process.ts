// Compares mathematical results in a separate process, which can be killed: some comparisons do not terminate or use up all memory.
import { sameMath } from './equivalence.ts';
import { mathRequestSchema, type MathReply } from './math-messages.ts';

const send = (reply: MathReply): void => void process.send?.(reply);

process.on('message', (message) => {
  const { id, expected, given, tolerance } = mathRequestSchema.parse(message);
  let same = false;
  try {
    same = sameMath(expected, given, tolerance);
  } catch {
    // The library fails on some inputs. They count as different.
  }
  send({ type: 'compared', id, same });
});
// The parent has ended.
process.on('disconnect', () => process.exit(0));

// The library loads parts of itself on first use. That must not count towards the time of the first comparison.
sameMath('2', 'x', undefined);
sameMath('\\sqrt{2}', '1', undefined);
send({ type: 'ready' });
