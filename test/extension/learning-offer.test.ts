import { expect, it } from 'vitest';
import type { OutcomesCheck } from '../../backend/protocol/learning.ts';
import { JUDGED_BETWEEN, LearningOffer, type LearningKnown } from '../../extension/training/learning-offer.ts';

const ENOUGH: OutcomesCheck = { conductor: 'conductor-mini', own: 0, learned: { verified: 24, other: 30 }, heldOut: { verified: 6, other: 7 }, leftOut: [], canTell: true };

/** An offer over a journal that says `found`, or cannot be asked. */
function offerOver(found: OutcomesCheck | undefined, { known, on = true }: { known?: LearningKnown; on?: boolean } = {}) {
  const journal = { asked: 0, found };
  const kept = { known };
  const setting = { on };
  const offer = new LearningOffer({
    connection: {
      request: async () => {
        journal.asked += 1;
        if (!journal.found) throw new Error('not connected');
        return journal.found as never;
      },
    },
    memory: { get: () => kept.known, set: (next) => { kept.known = next; } },
    isOn: () => setting.on,
  });
  return { offer, journal, kept, setting };
}

it('is made where the newest plans are enough to tell, and is remembered without asking again', async () => {
  const { offer, journal, kept } = offerOver(ENOUGH);
  let changes = 0;
  offer.changed.on(() => { changes += 1; });
  await Promise.all([offer.look(), offer.look()]);
  expect(offer.state).toEqual({ verified: 24, other: 30 });
  await offer.look();
  expect({ asked: journal.asked, changes }).toEqual({ asked: 1, changes: 1 });
  expect(offerOver(ENOUGH, { known: kept.known as LearningKnown }).offer.state).toEqual({ verified: 24, other: 30 });
});

it.each<[string, OutcomesCheck]>([
  ['there is too little to learn from', { ...ENOUGH, missing: 'There is too little to learn from.' }],
  ['the newest plans could not tell whether it is better', { ...ENOUGH, canTell: false }],
])('is not made where %s', async (_why, found) => {
  const { offer } = offerOver(found);
  await offer.look();
  expect(offer.state).toBeUndefined();
});

it('is looked for again where the backend could not be asked', async () => {
  const { offer, journal } = offerOver(undefined);
  await expect(offer.look()).rejects.toThrow('not connected');
  journal.found = ENOUGH;
  await offer.judged();
  expect(offer.state).toEqual(ENOUGH.learned);
});

it('comes again after it was declined, once enough was judged since', async () => {
  const { offer, journal } = offerOver(ENOUGH, { known: { judged: 3, offered: ENOUGH.learned } });
  await offer.decline();
  expect(offer.state).toBeUndefined();
  for (let count = 1; count < JUDGED_BETWEEN; count += 1) await offer.judged();
  expect({ asked: journal.asked, state: offer.state }).toEqual({ asked: 0, state: undefined });
  journal.found = { ...ENOUGH, learned: { verified: 40, other: 32 } };
  await offer.judged();
  expect({ asked: journal.asked, state: offer.state }).toEqual({ asked: 1, state: { verified: 40, other: 32 } });
});

it('is neither made nor looked for while the setting is off', async () => {
  const { offer, journal, setting } = offerOver(ENOUGH, { on: false, known: { judged: JUDGED_BETWEEN, offered: ENOUGH.learned } });
  await offer.look();
  expect({ asked: journal.asked, state: offer.state }).toEqual({ asked: 0, state: undefined });
  setting.on = true;
  await offer.look();
  expect(journal.asked).toBe(1);
});
