import { createHash } from 'node:crypto';
import { escapeRegExp } from '../../common/escape-regexp.ts';
import { VERSION } from '../../protocol/product-version.ts';
import { changeKind, isRed } from '../../protocol/test-changes.ts';
import { tellingLine } from '../../protocol/telling-line.ts';
import type { TestChange } from '../../protocol/verdict.ts';
import { partsOf } from '../../protocol/verdict-facts.ts';
import type { VerifyResult } from '../judge-change.ts';
import { printable } from '../terminal.ts';
import { RED_MEANS } from './red-means.ts';

export interface SarifOptions {
  /** The workspace within its repository, with forward slashes, such as `packages/a/`; empty for the whole of it. */
  readonly prefix: string;
  /** Whether a file or folder of this name, relative to the workspace, is there. */
  readonly isThere: (name: string) => boolean;
}

/**
 * The verdict as a log of SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), which code scanning shows beside the code: one result for
 * each test that counts against the change, at its line where its message names one. The verdict itself is a notification of the run.
 */
export function sarifReport(result: VerifyResult, options: SarifOptions): object {
  const { outcome, reason, notes, commit } = result;
  const isAccepted = outcome === 'verified' || outcome === 'passes';
  return {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'Conductor',
            version: VERSION,
            rules: Object.entries(RED_MEANS).map(([id, text]) => ({ id, shortDescription: { text }, defaultConfiguration: { level: 'error' } })),
          },
        },
        invocations: [
          {
            executionSuccessful: outcome !== 'infrastructure',
            toolExecutionNotifications: [
              { level: isAccepted ? (outcome === 'passes' ? 'warning' : 'note') : 'error', message: { text: printable(reason) }, properties: { outcome } },
              ...notes.map((text) => ({ level: 'note', message: { text: printable(text) } })),
            ],
          },
        ],
        columnKind: 'utf16CodeUnits',
        properties: { outcome, ...(commit !== null && { base: commit }) },
        results: result.tests.filter(isRed).map((test) => resultOf(test, options)),
      },
    ],
  };
}

function resultOf(test: TestChange, { prefix, isThere }: SarifOptions): object {
  const { id, message = '' } = test;
  const kind = changeKind(test);
  const [first = ''] = partsOf(id);
  const name = first.replace(/^\.\//, '').replace(/\/$/, '');
  // Code scanning takes no result without a place. A test that names no file is shown at the project.
  const place = name !== '' && !name.split('/').includes('..') && isThere(name) ? name : undefined;
  const line = place && lineIn(place, message);
  const telling = printable(tellingLine(message));
  return {
    ruleId: kind,
    level: 'error',
    message: { text: `${printable(id)}: ${RED_MEANS[kind as keyof typeof RED_MEANS]}${telling === '' ? '' : ` ${telling}`}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: encodeURI(prefix + (place ?? '') || '.').replaceAll(/[?#]/g, encodeURIComponent) },
          ...(line && { region: { startLine: line } }),
        },
      },
    ],
    partialFingerprints: { 'testId/v1': createHash('sha256').update(id).digest('hex') },
    properties: { test: id, before: test.before, after: test.after },
  };
}

/** The first line of the file that a stack trace names, as `file:12` or as Python's `File "file", line 12`. */
function lineIn(file: string, message: string): number | undefined {
  const [, colon, python] = new RegExp(`${escapeRegExp(file)}(?::(\\d{1,7})\\b|", line (\\d{1,7})\\b)`).exec(message) ?? [];
  const line = Number(colon ?? python ?? 0);
  return line > 0 ? line : undefined;
}
