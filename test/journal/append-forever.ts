/*
 * A process to be killed: appends events of growing size to a run until it dies, and says the number of each event only once the
 * journal has acknowledged it.  node append-forever.ts FILE RUN
 */
import { writeSync } from 'node:fs';
import { Journal } from '../../backend/journal/journal.ts';
import { accepted, stepCompleted } from './sample-events.ts';

const [file = '', runId = ''] = process.argv.slice(2);
const journal = Journal.open(file);
journal.accept(runId, accepted());
writeSync(1, '1\n');
for (let count = 2; ; count += 2) {
  const output = `${count}:${'x'.repeat((count * 997) % 20_000)}`;
  for (const { seq } of journal.append(runId, [stepCompleted(output), stepCompleted(`${output}!`)])) writeSync(1, `${seq}\n`);
}
