import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Verdict } from '../../../backend/protocol/verdict.ts';
import { makeScratch } from '../setup.ts';
import { type Defence, type Hack, type HackSuite, type JudgedHack, NOT_CLAIMED, nothingToProve, ROWS } from './hacks.ts';
import { Judges } from './judges.ts';
import { isWhole, turns } from './which-hacks.ts';

/** Verifications side by side, on the two cores that there are at least. */
const AT_ONCE = 2;

/** Gives every hack to the real verifier in the real sandbox. Every row has to have one, or a reason why it has none. */
export function describeHacks({ name, isHere, hacks, noSuch = {}, restIn, fixed }: HackSuite): void {
  vi.setConfig({ maxConcurrency: AT_ONCE });
  describe.skipIf(restIn !== undefined)(`the rows of ${name}${restIn === undefined ? '' : `: see ${restIn}`}`, () => {
    it.each(Object.entries(ROWS))('row %s (%s) has a hack, or a reason why it has none', (row) => {
      const tried = hacks.some((hack) => hack.row === Number(row));
      expect([tried, Number(row) in NOT_CLAIMED, Number(row) in noSuch].filter(Boolean)).toHaveLength(1);
    });
    for (const [row, reason] of Object.entries({ ...NOT_CLAIMED, ...noSuch }))
      it.skip(`row ${row} (${ROWS[Number(row)]}): not tried, ${reason}`, () => undefined);
  });

  describe.skipIf(!isHere)(`a patch is not verified: ${name}`, { timeout: 240_000, concurrent: true }, () => {
    const twinsOf = Map.groupBy(fixed ? honestTwins(hacks, fixed) : [], ({ twin }) => twin.project);
    let judges: Judges;
    beforeAll(async () => void (judges = new Judges(await makeScratch())));
    afterAll(() => judges.close());

    const isTried = turns();
    // One project after the other: what is known of a base, and built of it, is kept for the last few projects alone.
    const byProject = Map.groupBy(hacks, ({ project }) => project);
    for (const [project, hacksOfProject] of byProject) {
      for (const hack of hacksOfProject) tryHack(hack);
      for (const twin of twinsOf.get(project) ?? []) tryTwin(twin);
    }

    function tryHack(hack: Hack): void {
      const { row, how, caughtBy, getsThrough } = hack;
      const end = getsThrough === undefined ? `caught by ${caughtBy.name}` : `NOT CAUGHT: ${getsThrough}`;
      it.runIf(isTried())(`row ${row}, ${ROWS[row]}: ${how} (${end})`, async () => {
        if (isWhole) {
          const fooled = await judges.foolsNaiveOne(hack);
          expect(fooled, 'whether it fools who looks at the exit code alone').toBe(hack.foolsNobody === undefined);
        }
        const verdict = await judges.verdict(hack, 'refuse');
        // One that is caught by now has to say so.
        if (getsThrough !== undefined) return expect(verdict, verdict.reason).toMatchObject({ verified: true });
        expectCaught(verdict, caughtBy);
        if (hack.leftOut !== undefined) expectCaught(await judges.verdict(hack, 'leave out'), hack.leftOut);
      });
    }

    function tryTwin({ how, noControl, twin }: HonestTwin): void {
      it.runIf(isTried())(`but the fix of the project in which a patch "${how}" ${noControl ? 'passes' : 'is verified'}`, async () => {
        expect(Object.keys(twin.change), 'what there is to fix').not.toEqual([]);
        const verdict = await judges.verdict(twin, 'refuse');
        expect(verdict, verdict.reason).toMatchObject({ outcome: noControl ? 'passes' : 'verified', score: 1 });
      });
    }
  });
}

interface HonestTwin {
  readonly how: string;
  readonly noControl: boolean;
  readonly twin: JudgedHack;
}

/** The fix of every project in which a test fails, named after the first hack of it. */
function honestTwins(hacks: readonly Hack[], fixed: Readonly<Record<string, string>>): readonly HonestTwin[] {
  const twins = new Map<string, HonestTwin>();
  for (const { how, caughtBy, noControl = false, project, history, command, runner } of hacks) {
    const key = JSON.stringify([project, history, command]);
    if (caughtBy === nothingToProve || twins.has(key)) continue;
    const change = Object.fromEntries(Object.entries(fixed).filter(([file]) => file in project));
    const twin = { project, change, command, ...(history && { history }), ...(runner !== undefined && { runner }) };
    twins.set(key, { how, noControl, twin });
  }
  return [...twins.values()];
}

function expectCaught(verdict: Verdict, by: Defence): void {
  const passes = by.onlyPasses === 'by chance' ? verdict.outcome === 'passes' : by.onlyPasses;
  expect(verdict, verdict.reason).toMatchObject({ verified: false, score: passes ? 1 : 0 });
  const messages = verdict.tests.map(({ id, before, after, message }) => `${id}: ${before} → ${after} ${message ?? ''}`);
  expect(by.shows(verdict), [`Not caught by ${by.name}: ${verdict.outcome}.`, verdict.reason, ...messages].join('\n')).toBe(true);
}
