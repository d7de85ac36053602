import { XMLBuilder } from 'fast-xml-parser';
import { changeKind, isRed } from '../../protocol/test-changes.ts';
import { tellingLine } from '../../protocol/telling-line.ts';
import type { TestChange } from '../../protocol/verdict.ts';
import { partsOf } from '../../protocol/verdict-facts.ts';
import type { VerifyResult } from '../judge-change.ts';
import { oneLine } from '../terminal.ts';
import { RED_MEANS } from './red-means.ts';

const MAX_MESSAGE_CHARACTERS = 300;

const builder = new XMLBuilder({
  ignoreAttributes: false, attributeNamePrefix: '@', format: true, suppressEmptyNode: true, suppressBooleanAttributes: false,
});

type Case = Readonly<Record<string, unknown>>;

export interface ReportOptions {
  /** Whether a change that only passes does not do. */
  readonly requireVerified: boolean;
}

/**
 * The verdict in the JUnit form that CI systems read (https://github.com/testmoapp/junitxml). A test fails here if it counts against the change. The
 * first test is the verdict itself, because a report without tests, as of a refused change, would look like success.
 */
export function junitReport(result: VerifyResult, options: ReportOptions): string {
  const suites = new Map<string, TestChange[]>();
  for (const test of result.tests) {
    const [first = ''] = partsOf(test.id);
    const suite = suites.get(first) ?? [];
    suites.set(first, [...suite, test]);
  }
  const all = [
    suiteOf('conductor verify', [verdictCase(result, options)], result.durationMs),
    ...[...suites].map(([name, tests]) => suiteOf(name, tests.map((test) => testCase(name, test)), totalMs(tests))),
  ];
  const total = (count: '@tests' | '@failures' | '@errors' | '@skipped'): number => all.reduce((sum, suite) => sum + suite[count], 0);
  return builder.build({
    '?xml': { '@version': '1.0', '@encoding': 'UTF-8' },
    testsuites: {
      '@name': 'conductor verify', '@tests': total('@tests'), '@failures': total('@failures'), '@errors': total('@errors'),
      '@skipped': total('@skipped'), '@time': seconds(result.durationMs), testsuite: all,
    },
  });
}

function suiteOf(name: string, cases: readonly Case[], durationMs: number) {
  const count = (child: string): number => cases.filter((one) => child in one).length;
  return {
    '@name': xmlText(name), '@tests': cases.length, '@failures': count('failure'), '@errors': count('error'), '@skipped': count('skipped'),
    '@time': seconds(durationMs), testcase: cases,
  };
}

function verdictCase({ outcome, reason, notes, durationMs }: VerifyResult, { requireVerified }: ReportOptions): Case {
  const fault = { '@message': shortText(reason), '@type': outcome, '#text': xmlText(reason) };
  return {
    '@name': 'the change is accepted', '@classname': 'conductor verify', '@time': seconds(durationMs),
    ...((outcome === 'failed' || outcome === 'refused' || (outcome === 'passes' && requireVerified)) && { failure: fault }),
    ...(outcome === 'infrastructure' && { error: fault }),
    'system-out': xmlText([`${outcome}: ${reason}`, ...notes].join('\n')),
  };
}

function testCase(suite: string, test: TestChange): Case {
  const [, ...names] = partsOf(test.id);
  const name = names.at(-1) ?? suite;
  const { before, after, message = '', durationMs } = test;
  const kind = changeKind(test);
  const skipped = kind === 'flaky' ? 'flaky, left out' : kind === 'left-out' ? 'failed before, left out' : kind === 'not-run' ? 'did not run' : undefined;
  return {
    '@name': xmlText(name), '@classname': xmlText([suite, ...names.slice(0, -1)].join('.')),
    ...(durationMs !== undefined && { '@time': seconds(durationMs) }),
    ...(isRed(test) && {
      failure: {
        '@message': shortText(tellingLine(message) || `${before} before the change, ${after} with it`), '@type': kind,
        '#text': xmlText(`${RED_MEANS[kind as keyof typeof RED_MEANS]} (${before} → ${after})\n${message}`),
      },
    }),
    ...(skipped !== undefined && { skipped: { '@message': skipped } }),
  };
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(3);
const totalMs = (tests: readonly TestChange[]): number => tests.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0);

/** Without what XML 1.0 cannot have, escaped or not. Tests write their messages and names, so anything may be there. */
const xmlText = (text: string): string =>
  text.toWellFormed().replaceAll(/\u001b\[[\d;]*m/g, '').replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '');
const shortText = (text: string): string => oneLine(xmlText(text), MAX_MESSAGE_CHARACTERS);
