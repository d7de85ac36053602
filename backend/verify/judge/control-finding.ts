import { partsOf } from '../../protocol/verdict-facts.ts';
import type { TestReport } from '../runners/test-report.ts';
import { byId, type Judgement } from './judge.ts';
import { UnusableRunError } from './test-runs.ts';

/** Why green tests do not make a change verified. */
export interface Finding {
  /** `failed`: the change tampers with the tests. `passes`: nothing was shown. */
  readonly outcome: 'failed' | 'passes';
  readonly reason: string;
}

const untrusted = (why: string): Finding => ({ outcome: 'failed', reason: `The tests cannot be trusted with this change: ${why}` });

/** Of a test that passes whatever it expects. */
export const passesAltered = (id: string): Finding => untrusted(`"${id}" passes even when what it expects is altered.`);

export const passesAtMost = (why: string): Finding => ({
  outcome: 'passes', reason: `It is not shown that these tests would notice a wrong answer: ${why}.`,
});

/** The judgement of green tests, lowered by a finding. */
export const lowered = (judged: Judgement, { outcome, reason }: Finding): Judgement =>
  outcome === 'passes'
    ? { ...judged, verified: false, outcome, reason: `${judged.reason} ${reason}` }
    : { ...judged, verified: false, score: 0, outcome, reason };

/**
 * What the negative control says: tests with altered expectations, of which each must fail. Undefined if nothing speaks against the change.
 * @param altered ids of the tests that an honest run fails with certainty
 * @param after the same tests as they are, with the change
 * @param whyNone why none was altered, where that is so
 */
export function controlFinding(
  control: { readonly report: TestReport } | UnusableRunError, { altered, after, whyNone }: { readonly altered: readonly string[]; readonly after: TestReport; readonly whyNone: string },
): Finding | undefined {
  if (control instanceof UnusableRunError) return unusableControl(control, altered);
  const results = byId(control.report);
  const all = [...altered, ...renamedRows(altered, after, results)];
  const stillPassing = all.find((id) => results.get(id)?.status === 'passed');
  if (stillPassing !== undefined) return passesAltered(stillPassing);
  if (altered.length === 0) return passesAtMost(whyNone);
  if (!all.some((id) => results.get(id)?.status === 'failed')) return passesAtMost('the tests gave no result with altered expected values');
  return undefined;
}

/**
 * With an altered expectation an honest test may wait for ever, and one that is compiled may not compile. Apart from that, no honest test
 * ends its runner or uses up the machine.
 */
function unusableControl({ exceeded, message }: UnusableRunError, altered: readonly string[]): Finding {
  if (exceeded === 'time') return passesAtMost('the tests did not end with altered expected values');
  const isCompiled = altered.some((id) => !NOT_COMPILED.test(partsOf(id)[0] ?? ''));
  if (exceeded === undefined && isCompiled) return passesAtMost('the tests gave no result with altered expected values');
  return untrusted(`when what they expect is altered, the run itself fails. ${message}`);
}

const NOT_COMPILED = /\.(?:py|[cm]?js)$/;

/** A table's rows are named after their values, so altered rows have other names: `test_total[2-4]`, `test_total[2-7]`. All rows are altered. */
function renamedRows(altered: readonly string[], after: TestReport, results: ReadonlyMap<string, unknown>): readonly string[] {
  const tables = new Set(altered.filter((id) => !results.has(id)).map(tableOf));
  const known = new Set(after.results.map(({ id }) => id));
  return [...results.keys()].filter((id) => !known.has(id) && id.includes('[') && tables.has(tableOf(id)));
}

const tableOf = (id: string): string => id.replace(/\[.*$/s, '');
