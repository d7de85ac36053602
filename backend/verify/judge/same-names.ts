import type { TestReport, TestResult } from '../runners/test-report.ts';

/*
 * A test may be named after the time, a random number or an object's address, as a parameter is. Then its name differs in each run, and two runs that
 * are made at the same moment do not show it.
 */

/** What no two runs need to have in common: times, dates, addresses, identifiers, long numbers, long fractions, and places for temporary files. */
const CHANGING = new RegExp([
  String.raw`(?:\b\d{4}-\d{2}-\d{2}T|\b)\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?!\d)`,
  String.raw`\b0x[\da-f]{6,}\b`,
  String.raw`\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b`,
  String.raw`\b(?=[a-f]*\d)[\da-f]{16,}\b`,
  String.raw`\d+\.\d{6,}`,
  String.raw`\d{9,}`,
  String.raw`(?:/private)?(?:/var)?/tmp/[^\s\]'"]*`,
].join('|'), 'gi');

const patternOf = (id: string): string => id.replaceAll(CHANGING, '\0');

/**
 * The report with the names of an earlier one: tests that only one of them has, and whose names differ in nothing but what changes from run to run, are taken
 * for the same ones, in their order, if there are as many of them in both and all of them passed before. The order may change, too, so a test that failed
 * could be taken for one that passes.
 */
export function withNamesOf(earlier: TestReport, report: TestReport): TestReport {
  const [then, now] = [new Set(idsOf(earlier)), new Set(idsOf(report))];
  // As nearly always.
  if ([...now].every((id) => then.has(id))) return report;
  const notPassed = new Set(earlier.results.filter(({ status }) => status !== 'passed').map(({ id }) => patternOf(id)));
  const gone = Map.groupBy(idsOf(earlier).filter((id) => !now.has(id) && !notPassed.has(patternOf(id))), patternOf);
  const come = Map.groupBy(idsOf(report).filter((id) => !then.has(id)), patternOf);
  const names = new Map([...come].flatMap(([pattern, ids]) => {
    const was = gone.get(pattern) ?? [];
    return was.length === ids.length ? ids.map((id, index) => [id, was[index] ?? id] as const) : [];
  }));
  if (names.size === 0) return report;
  return { ...report, results: report.results.map((result): TestResult => ({ ...result, id: names.get(result.id) ?? result.id })) };
}

const idsOf = ({ results }: TestReport): readonly string[] => results.map(({ id }) => id);
