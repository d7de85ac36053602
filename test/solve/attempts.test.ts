import { describe, expect, it } from 'vitest';
import { JournalUnavailableError } from '../../backend/journal/errors.ts';
import { answerOf } from '../../backend/protocol/run-facts.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import type { WorkEstimate } from '../../backend/protocol/work-estimate.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import type { Checker } from '../../backend/solve/checker.ts';
import { BudgetSpentError } from '../../backend/workers/errors.ts';
import { drivenRun, NO_TESTS } from './driven-run.ts';

/* Runs with several attempts. Verdicts are scripted: an answer is worth what it says. */

const plan = (name: string): string => `model_id = [0]\nsubtasks = ["Mend the constant a in src/a.js, ${name}."]\naccess_list = [[]]`;
const answer = (worth: string): string => `[${worth}]\n\`\`\`js src/a.js\nexport const a = 2;\n\`\`\``;

function verdictOf(text: string): Verdict {
  const [, worth = ''] = /\[(.*?)\]/.exec(text) ?? [];
  const common = { reason: worth, notes: [], command: 'node --test', sandboxed: true, durationMs: 1 };
  if (worth === 'verified') return { ...common, verified: true, score: 1, outcome: 'verified', tests: [] };
  if (worth === 'passes') return { ...common, verified: false, score: 0.5, outcome: 'passes', tests: [] };
  const failing = Number(worth);
  return { ...common, verified: false, score: 0, outcome: 'failed', tests: Array.from({ length: failing }, (_, index) => ({ id: `t ${index}`, before: 'failed', after: 'failed' })) };
}

function checker(): Checker & { readonly judged: string[] } {
  const judged: string[] = [];
  return {
    ...NO_TESTS,
    judged,
    findTestCommands: async () => [{ command: 'node --test', runner: 'node-test', folder: '' }],
    parsePatch: async (text) => ({ edits: [{ path: 'src/a.js', kind: 'create', before: null, after: text }], refused: [] }),
    verify: async ({ patch }) => {
      const text = patch.edits[0]?.after ?? '';
      judged.push(text.slice(1, text.indexOf(']')));
      return verdictOf(text);
    },
  };
}

/** What the plans are expected to cost, by their names. */
const estimates = (usd: Readonly<Record<string, number>>) => (_run: unknown, _round: number, { subtasks }: { readonly subtasks: readonly string[] }): WorkEstimate => {
  const of = Object.entries(usd).find(([name]) => subtasks[0]?.includes(name))?.[1];
  return { ...(of !== undefined && { usd: { low: 0, high: of } }), tokens: { low: 0, high: 1 }, steps: [], unpriced: [], left: { usd: 1, tokens: 1 } };
};
const request = { attempts: 3, workspace: '/', rounds: 2 };

it('tries plans from the cheapest by estimate, and ends with the first verified one', async () => {
  const { asked, drive, events } = await drivenRun([plan('dear'), plan('cheap'), plan('middle'), answer('2'), answer('verified')], request);
  const judge = checker();
  const run = await drive({ checker: judge, estimateOf: estimates({ dear: 0.5, middle: 0.2, cheap: 0.1 }), verifiedCost: () => ({ usd: 0.12, answers: 4 }) });
  expect(judge.judged).toEqual(['2', 'verified']);
  expect(asked.map(([text = '']) => /, (dear|cheap|middle)\./.exec(text.slice(text.lastIndexOf('Your subtask')))?.[1])).toEqual([undefined, undefined, undefined, 'cheap', 'middle']);
  expect(run).toMatchObject({ state: 'completed', outcome: 'verified', answerRound: 2, verifiedCost: { usd: 0.12, answers: 4 } });
  // The dear one cost its plan alone.
  expect(run.rounds[0]?.steps.map(({ state }) => state)).toEqual(['pending']);
  expect(run.spent.usd).toBeCloseTo(0.05);
  // No attempt knows of another: all were planned with the same prompt.
  expect(new Set(asked.slice(0, 3).map((texts) => texts.join(''))).size).toBe(1);
  expect(events().filter(({ event }) => event.type === 'context.gathered')).toHaveLength(1);
});

it('shows no attempt what another one wrote, though its plan lets a step read everything', async () => {
  const all = (name: string): string => `model_id = [0]\nsubtasks = ["Mend the constant a in src/a.js, ${name}."]\naccess_list = [["all"]]`;
  const { asked, drive } = await drivenRun([all('a'), all('b'), all('c'), answer('2'), answer('2'), answer('2')], request);
  await drive({ checker: checker() });
  expect(asked.slice(3).join('')).not.toContain('previous_round');
});

it.each([
  ['with the fewest failing tests', ['3', '1', '2'], 1],
  ['that was the cheapest of equals, which cost the same: the first', ['2', '2', '2'], 0],
])('offers the one %s if none is verified, and revises none', async (_name, worth, best) => {
  const { asked, drive } = await drivenRun([plan('a'), plan('b'), plan('c'), ...worth.map(answer)], request);
  const run = await drive({ checker: checker() });
  expect(run).toMatchObject({ state: 'completed', outcome: 'not-verified', answerRound: best });
  expect(asked).toHaveLength(6);
});

it('ends with tests that pass, because no other answer could prove more', async () => {
  const { asked, drive } = await drivenRun([plan('a'), plan('b'), plan('c'), answer('4'), answer('passes')], request);
  expect(await drive({ checker: checker() })).toMatchObject({ outcome: 'passes', answerRound: 1 });
  expect(asked).toHaveLength(5);
});

it('samples one plan where no test could choose', async () => {
  const { asked, drive } = await drivenRun([plan('a'), answer('1')], request);
  expect(await drive({ checker: { ...checker(), findTestCommands: async () => [] } })).toMatchObject({ state: 'completed', outcome: 'unchecked', answerRound: 0 });
  expect(asked).toHaveLength(2);
});

it('goes on with the others where one attempt fails, and fails where all do', async () => {
  const refused = (): Promise<string> => Promise.reject(new Error('refused'));
  const one = await drivenRun([plan('a'), refused, plan('c'), refused, answer('verified')], request);
  const run = await one.drive({ checker: checker() });
  expect(run).toMatchObject({ state: 'completed', outcome: 'verified', answerRound: 2 });
  expect(run.rounds.map(({ failure }) => failure !== undefined)).toEqual([true, true, false]);
  const all = await drivenRun([plan('a'), plan('b'), plan('c'), refused, refused, refused], request);
  expect(await all.drive({ checker: checker() })).toMatchObject({ state: 'failed' });
});

it('stops at the budget of all attempts together, and goes on from there', async () => {
  const { asked, drive } = await drivenRun([
    plan('a'), plan('b'), plan('c'), answer('2'), () => Promise.reject(new BudgetSpentError('run:r', 'The budget is spent.')), answer('verified'),
  ], request);
  expect(await drive({ checker: checker() })).toMatchObject({ state: 'stopped' });
  expect(await drive({ checker: checker() })).toMatchObject({ state: 'completed', outcome: 'verified', answerRound: 1 });
  expect(asked).toHaveLength(6);
});

it('ends the same wherever it is interrupted, and asks for nothing twice', async () => {
  const plans = ['dear', 'cheap', 'middle'];
  const worth: Readonly<Record<string, string>> = { cheap: '3', middle: '2', dear: 'verified' };
  const estimateOf = estimates({ dear: 0.5, middle: 0.2, cheap: 0.1 });
  const begin = async () => {
    const reply = (): string => {
      const asked = begun.asked.at(-1)?.at(-1) ?? '';
      const step = /Your subtask: .*, (\w+)\./.exec(asked)?.[1];
      if (step !== undefined) return answer(worth[step] ?? '');
      return plan(plans[begun.events().filter(({ event }) => event.type === 'plan.proposed').length] ?? '');
    };
    const begun = await drivenRun(Array.from({ length: 12 }, () => reply), request);
    return begun;
  };
  const shape = ({ outcome, answerRound, rounds }: RunSnapshot) => [outcome, answerRound, rounds.map(({ planText, steps }) => [planText, steps.map(({ output }) => output)])];
  const whole = await begin();
  const expected = await whole.drive({ checker: checker(), estimateOf });
  expect(expected).toMatchObject({ outcome: 'verified', answerRound: 0 });
  const count = whole.events().length;
  expect(count).toBeGreaterThan(20);
  for (let last = 1; last < count; last += 1) {
    const { asked, drive, events } = await begin();
    const broken = await drive({ checker: checker(), estimateOf, failAfter: last }).catch((error: unknown) => error);
    expect(broken, `after event ${last}`).toBeInstanceOf(JournalUnavailableError);
    expect(events()).toHaveLength(last);
    expect(shape(await drive({ checker: checker(), estimateOf })), `after event ${last}`).toEqual(shape(expected));
    // A reply that could not be written is asked for again; nothing else is.
    expect(asked.length, `after event ${last}`).toBeLessThanOrEqual(whole.asked.length + 1);
  }
});

describe('all at once', () => {
  const atOnce = { ...request, atOnce: true };
  /** A call that its run breaks off, as the caller of workers does. */
  const brokenOff = (begun: () => void) => (signal: AbortSignal): Promise<string> => new Promise((_, reject) => {
    begun();
    signal.addEventListener('abort', () => reject(new Error('cancelled')));
  });
  const nameIn = (messages: readonly string[]): string | undefined => /Your subtask: .*, (\w+)\./.exec(messages.at(-1) ?? '')?.[1];
  /** Plans a, b and c; each step is answered by its name. */
  const named = async (steps: Readonly<Record<string, string | ((signal: AbortSignal) => Promise<string>)>>) => {
    const handedOut = new Set<string>();
    const run: Awaited<ReturnType<typeof drivenRun>> = await drivenRun(Array.from({ length: 20 }, () => (signal: AbortSignal, messages: readonly string[]) => {
      const name = nameIn(messages);
      if (name === undefined) {
        // A plan that could not be written is asked for again.
        const known = snapshotOf(run.events()).rounds.flatMap(({ planText = '' }) => planText);
        const next = ['a', 'b', 'c'].find((one) => !handedOut.has(one) && !known.includes(plan(one))) ?? '';
        handedOut.add(next);
        return plan(next);
      }
      const step = steps[name] ?? '';
      return typeof step === 'string' ? step : step(signal);
    }), atOnce);
    return { ...run, handedOut };
  };

  it('tries them at the same time: the first verified one ends the others, which are paid only for what they began', async () => {
    const all = Promise.withResolvers<void>();
    let waiting = 0;
    const begun = (): void => { if ((waiting += 1) === 2) all.resolve(); };
    const { asked, drive, events } = await named({
      a: brokenOff(begun), b: () => all.promise.then(() => answer('verified')), c: brokenOff(begun),
    });
    const run = await drive({ checker: checker() });
    expect(run).toMatchObject({ state: 'completed', outcome: 'verified', answerRound: 1 });
    // Three plans and three steps, none of them twice.
    expect(asked).toHaveLength(6);
    expect(run.rounds.map(({ failure }) => failure?.kind)).toEqual(['cancelled', undefined, 'cancelled']);
    expect(run.rounds.map(({ steps }) => steps[0]?.state)).toEqual(['pending', 'completed', 'pending']);
    expect(events().filter(({ event }) => event.type === 'step.failed' || event.type === 'step.skipped')).toEqual([]);
    expect(events().at(-1)?.event.type).toBe('run.completed');
  });

  it('offers the best by the tests where none is verified', async () => {
    const { drive } = await named({ a: answer('3'), b: answer('1'), c: answer('2') });
    expect(await drive({ checker: checker() })).toMatchObject({ state: 'completed', outcome: 'not-verified', answerRound: 1 });
  });

  it('tries an attempt again that found no room beside the others, when they have ended', async () => {
    let refused = 0;
    const { drive } = await named({
      a: answer('3'), b: answer('2'),
      c: () => ((refused += 1) === 1 ? Promise.reject(new BudgetSpentError('run:r', 'The budget is spent.')) : Promise.resolve(answer('verified'))),
    });
    expect(await drive({ checker: checker() })).toMatchObject({ state: 'completed', outcome: 'verified', answerRound: 2 });
    const spent = await named({ a: answer('3'), b: answer('2'), c: () => Promise.reject(new BudgetSpentError('run:r', 'The budget is spent.')) });
    const stopped = await spent.drive({ checker: checker() });
    expect(stopped).toMatchObject({ state: 'stopped' });
    expect(answerOf(stopped)?.round.index).toBe(1);
  });

  it('goes on with the others where one fails', async () => {
    const { drive } = await named({ a: () => Promise.reject(new Error('refused')), b: answer('2'), c: answer('1') });
    const run = await drive({ checker: checker() });
    expect(run).toMatchObject({ state: 'completed', answerRound: 2 });
    expect(run.rounds[0]?.failure?.kind).toBe('internal');
  });

  it('ends with the same answer wherever it is interrupted, and begins nothing behind a verified one', async () => {
    const steps = { a: answer('3'), b: answer('verified'), c: answer('2') };
    const whole = await named(steps);
    expect(await whole.drive({ checker: checker() })).toMatchObject({ outcome: 'verified' });
    const count = whole.events().length;
    expect(count).toBeGreaterThan(15);
    for (let last = 1; last < count; last += 1) {
      const { drive, events, handedOut } = await named(steps);
      expect(await drive({ checker: checker(), failAfter: last }).catch((error: unknown) => error), `after event ${last}`).toBeInstanceOf(JournalUnavailableError);
      const isVerified = events().some(({ event }) => event.type === 'verify.completed' && event.verdict.verified);
      handedOut.clear();
      const run = await drive({ checker: checker() });
      expect(run, `after event ${last}`).toMatchObject({ state: 'completed', outcome: 'verified' });
      const attempts = events().slice(last).filter(({ event }) => event.type === 'attempt.started');
      if (isVerified) expect(attempts, `after event ${last}`).toEqual([]);
    }
  });
});
