import { describe, expect, it } from 'vitest';
import type { Journal } from '../../backend/journal/journal.ts';
import type { RunEvent } from '../../backend/protocol/run-events.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { collectOutcomes, type CollectedOutcomes, type WantedOutcomes } from '../../backend/train/outcomes/collect-outcomes.ts';
import { splitOutcomes } from '../../backend/train/outcomes/split-outcomes.ts';
import type { Outcome } from '../../backend/train/outcomes/outcome.ts';
import { done, endedBy, judged, planned, ran } from '../journal/judged.ts';
import { openJournal, temporaryFile } from '../journal/temporary.ts';

const HERE = '/projects/sample';
const POOL = [
  { id: 'first', provider: 'openai', model: 'model-a', key: 'K' },
  { id: 'second', provider: 'openai-compatible', model: 'model-b', baseUrl: 'http://127.0.0.1:8080/v1' },
].map((worker) => workerConfigSchema.parse(worker));
const NOTHING = { outcomes: new Set<string>(), trainings: new Set<string>() };

const collect = (journal: Journal, wanted: Partial<WantedOutcomes> = {}): Promise<CollectedOutcomes> => collectOutcomes(journal, { workspace: undefined, pool: POOL, known: NOTHING, ...wanted });
const plain = [planned([0]), done(0, 0.25, 2_000), ...endedBy('verified')];

describe('the outcomes in a journal', () => {
  it('are the plans that tests judged, of questions and trainings, oldest first, with verdict, cost, tokens and time', async () => {
    let clock = 0;
    const journal = openJournal(temporaryFile(), { now: () => (clock += 1_000) });
    ran(journal, 'old', plain);
    ran(journal, 'new', [planned([0, 1]), done(0, 0.25), done(1, 0.5), judged('failed'), planned([1], { round: 1 }), done(0, 1, 1_000, { round: 1 }), judged('passes', { round: 1 }), { type: 'run.completed', outcome: 'passes', round: 1, message: 'm' }], {}, { question: 'Another?' });
    ran(journal, 'rollout', plain, { kind: 'rollout', parentId: 'training', countsAs: { project: HERE, kind: 'bug' } }, { workspace: '/copies/1' });
    ran(journal, 'comparison', plain, { kind: 'evaluation', parentId: 'training.evaluation' });
    const { outcomes, leftOut } = await collect(journal);
    expect(leftOut).toEqual([]);
    expect(outcomes.map(({ runId, round, judged: { verified, passes, costUsd } }) => [runId, round, verified, passes, costUsd])).toEqual([
      ['old', 0, true, false, 0.25], ['new', 0, false, false, 0.75], ['new', 1, false, true, 1], ['rollout', 0, true, false, 0.25],
    ]);
    expect(outcomes[0]).toMatchObject({ durationMs: 2_000, tokens: expect.any(Number) });
    expect(outcomes[0]?.question).toBe(outcomes[3]?.question);
    expect((await collect(journal, { workspace: '/projects/other' })).outcomes).toEqual([]);
    expect((await collect(journal, { workspace: HERE })).outcomes).toHaveLength(4);
  });

  it('leave out what says nothing of a plan or is not to be learned from, each with its reason', async () => {
    const journal = openJournal();
    const failure = { kind: 'payment', message: 'Nothing is left.', retryable: false };
    ran(journal, 'words', [planned([0]), done(0, 1), { type: 'run.completed', outcome: 'answered', round: 0, message: 'm' }]);
    ran(journal, 'simulated', plain, { pool: [{ id: 'first', provider: 'openai', model: 'model-a', simulated: true }] });
    ran(journal, 'edited', [planned([0]), { ...planned([1]), type: 'plan.edited', forTraining: false } as RunEvent, done(0, 1), ...endedBy('verified')]);
    ran(journal, 'stopped', [planned([0]), done(0, 1, 1, { finishReason: 'stopped' }), ...endedBy('verified')]);
    ran(journal, 'handed on', [planned([0]), { type: 'step.reassigned', round: 0, step: 0, from: 0, to: 1, failure }, done(0, 1), ...endedBy('verified')]);
    ran(journal, 'again', [planned([0, 1]), done(0, 0, 1, { keptFrom: 'words' }), done(1, 0.5), ...endedBy('verified')]);
    ran(journal, 'try', [{ type: 'try.begun', round: 0, record: { tried: 0, verified: 0 } }, ...plain]);
    ran(journal, 'gone', plain, { pool: [{ id: 'first', provider: 'openai', model: 'model-before' }] });
    ran(journal, 'own', plain, { kind: 'rollout', parentId: 'adopted' });
    ran(journal, 'known', plain);
    ran(journal, 'under way', [planned([0]), done(0, 1), judged('verified')]);
    const known = { outcomes: new Set(['known/0']), trainings: new Set(['adopted']) };
    const { outcomes, leftOut } = await collect(journal, { known });
    expect(outcomes).toEqual([]);
    expect(Object.fromEntries(leftOut.map(({ reason, count }) => [reason, count]))).toEqual({
      'no-verdict': 1, 'simulated': 1, 'edited': 1, 'stopped': 1, 'stood-in': 1, 'kept': 1, 'unplanned': 1, 'worker-gone': 1, 'learned': 2,
    });
  });

  it('are those of a plan that a person changed and lets be learned from, and not those whose records were forgotten', async () => {
    const journal = openJournal();
    ran(journal, 'edited', [planned([0]), { ...planned([1]), type: 'plan.edited', forTraining: true } as RunEvent, done(0, 1), ...endedBy('verified')]);
    expect((await collect(journal)).outcomes).toMatchObject([{ runId: 'edited' }]);
    journal.forgetJudgedSteps(HERE);
    expect(await collect(journal)).toEqual({ outcomes: [], leftOut: [{ reason: 'forgotten', count: 1 }] });
  });
});

describe('held-out outcomes', () => {
  const outcome = (at: number, question = `q${at}`): Outcome => ({ runId: `r${at}`, round: 0, at, question, kind: 'bug', sampledBy: undefined, judged: { kind: 'judged', verified: true, score: 1, costUsd: 0 }, tokens: 1, durationMs: 1 });

  it('are those of the newest fifth of the questions', () => {
    const { learned, heldOut } = splitOutcomes(Array.from({ length: 10 }, (_, at) => outcome(at)));
    expect([learned.length, heldOut.map(({ at }) => at)]).toEqual([8, [8, 9]]);
  });

  it('take all outcomes of their questions along, so that no question is learned and judged by', () => {
    const again = [outcome(0, 'same'), ...Array.from({ length: 8 }, (_, at) => outcome(at + 1)), outcome(9, 'same')];
    const { learned, heldOut } = splitOutcomes(again);
    expect(heldOut.map(({ at }) => at)).toEqual([0, 8, 9]);
    expect(learned.every(({ question }) => question !== 'same')).toBe(true);
  });
});
