import { beforeEach, expect, it } from 'vitest';
import type { SuggestOutcome } from '../../../backend/protocol/suggestions.ts';
import { OutcomeRecord } from '../../../extension/suggest/outcome-record.ts';

let now: number;
let told: SuggestOutcome[];
let record: OutcomeRecord;
const answer = (text: string, worker = 'ada') => ({ workspace: '/project', language: 'go', worker, document: 'a.go', text });
const outcome = (worker: string, accepted: boolean) => ({ workspace: '/project', language: 'go', worker, accepted });

beforeEach(() => {
  now = 1_000;
  told = [];
  record = new OutcomeRecord({ report: (one) => told.push(one), now: () => now });
});

it('a suggestion that the editor inserted was accepted', () => {
  record.answered(answer('return total'));
  record.offered('a.go', 'return total');
  record.accepted();
  record.left();
  expect(told).toEqual([outcome('ada', true)]);
});

it('a suggestion that was typed along is one, however often the rest of it is shown', () => {
  record.answered(answer('return total'));
  for (const rest of ['return total', 'eturn total', 'total', 'tal']) {
    record.offered('a.go', rest);
    now += 1_000;
  }
  record.accepted();
  expect(told).toEqual([outcome('ada', true)]);
});

it('a suggestion was not accepted if another took its place, or none', () => {
  record.answered(answer('return total'));
  record.answered(answer('panic(1)', 'ben'));
  record.offered('a.go', 'return total');
  now += 1_000;
  record.offered('a.go', 'panic(1)');
  now += 1_000;
  record.left();
  expect(told).toEqual([outcome('ada', false), outcome('ben', false)]);
});

it('a suggestion that was gone before anybody could read it says nothing', () => {
  record.answered(answer('return total'));
  record.offered('a.go', 'return total');
  now += 100;
  record.left();
  expect(told).toEqual([]);
});

it('an answer that is empty or was never shown says nothing', () => {
  record.answered(answer(' '));
  record.answered(answer('return total'));
  record.offered('b.go', 'return total');
  record.offered('a.go', '');
  record.accepted();
  record.left();
  expect(told).toEqual([]);
});
