import * as l10n from '@vscode/l10n';
import { changeKind, type ChangeKind } from '../backend/protocol/test-changes.ts';
import type { TestChange, TestStatus } from '../backend/protocol/verdict.ts';
import { partsOf } from '../backend/protocol/verdict-facts.ts';

export interface TestRow {
  readonly test: TestChange;
  readonly kind: ChangeKind;
  readonly name: string;
  /** The suites between the group's common place and the test's name. */
  readonly suites: readonly string[];
}

/** Tests of one file, or with another common first part of their ids. */
export interface TestGroup {
  /** The parts that all of them share: the file and suites. Empty for tests outside any. */
  readonly place: readonly string[];
  readonly rows: readonly TestRow[];
}

export interface VerdictRows {
  /** Tests with their own row: problems first, files in the order of their first such test. */
  readonly changed: readonly TestGroup[];
  /** Tests that passed before and after. */
  readonly kept: readonly TestGroup[];
  /** Tests that ran neither before nor after. */
  readonly notRun: readonly TestGroup[];
}

const ORDER: readonly ChangeKind[] = ['broken', 'newly-failing', 'still-failing', 'mended', 'added', 'flaky', 'left-out', 'kept', 'not-run'];

export function verdictRows(tests: readonly TestChange[]): VerdictRows {
  const ordered = tests
    .map((test) => ({ test, kind: changeKind(test) }))
    .sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  const groupsOf = (belongs: (kind: ChangeKind) => boolean): TestGroup[] => grouped(ordered.filter(({ kind }) => belongs(kind)));
  return {
    changed: groupsOf((kind) => kind !== 'kept' && kind !== 'not-run'),
    kept: groupsOf((kind) => kind === 'kept'),
    notRun: groupsOf((kind) => kind === 'not-run'),
  };
}

type Ordered = Pick<TestRow, 'test' | 'kind'>;

function grouped(tests: readonly Ordered[]): TestGroup[] {
  const files = new Map<string, { parts: readonly string[]; ordered: Ordered }[]>();
  for (const ordered of tests) {
    const parts = partsOf(ordered.test.id);
    const file = parts.length > 1 ? (parts[0] ?? '') : '';
    const members = files.get(file) ?? [];
    members.push({ parts, ordered });
    files.set(file, members);
  }
  return [...files.values()].map((members) => {
    const place = members.map(({ parts }): readonly string[] => parts.slice(0, -1)).reduce(sharedStart);
    const rows = members.map(({ parts, ordered }) => ({ ...ordered, name: parts.at(-1) ?? '', suites: parts.slice(place.length, -1) }));
    return { place, rows };
  });
}

function sharedStart(a: readonly string[], b: readonly string[]): readonly string[] {
  const end = a.findIndex((part, index) => part !== b[index]);
  return end < 0 ? a : a.slice(0, end);
}

/** The first `count` rows, in their groups. */
export function firstRows(groups: readonly TestGroup[], count: number): readonly TestGroup[] {
  let left = count;
  return groups.flatMap((group) => {
    const rows = group.rows.slice(0, left);
    left -= rows.length;
    return rows.length > 0 ? [{ ...group, rows }] : [];
  });
}

export const countOf = (groups: readonly TestGroup[]): number => groups.reduce((sum, { rows }) => sum + rows.length, 0);

/** A status as a word in the table. */
export function statusWord(status: TestStatus): string {
  switch (status) {
    case 'passed': return l10n.t('passes');
    case 'failed': return l10n.t('fails');
    case 'skipped': return l10n.t('skipped');
    case 'missing': return l10n.t('missing');
  }
}
