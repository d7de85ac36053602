/*
 * One of several processes that draw on one budget and append to one run: reserves and settles until a scope refuses, then prints
 * how often it was granted something.  node reserve-until-refused.ts FILE RUN LIMIT_TOKENS
 */
import { Journal } from '../../backend/journal/journal.ts';
import { stepCompleted } from './sample-events.ts';

const [file = '', runId = '', limit = ''] = process.argv.slice(2);
const journal = Journal.open(file);
const scopes = [{ name: 'day', limitTokens: Number(limit), limitUsd: Number(limit) / 100 }, { name: `run:${process.pid}` }];
let granted = 0;
for (;;) {
  const answer = journal.budget.reserve({ runId, scopes, usd: 0.07, tokens: 7 });
  if (!answer.granted) break;
  granted += 1;
  // Every other call costs less than was set aside, so that room comes back while the others look for it.
  const spent = granted % 2 ? { usd: 0.07, tokens: 7 } : { usd: 0.03, tokens: 3 };
  journal.append(runId, [stepCompleted(`${process.pid}`)], { settle: [{ reservationId: answer.reservationId, ...spent }] });
}
journal.close();
process.stdout.write(`${granted}\n`);
