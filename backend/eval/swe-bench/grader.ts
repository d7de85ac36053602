import { AsyncMemo } from '../../common/async-memo.ts';
import type { Slots } from '../../common/slots.ts';
import type { TestChange } from '../../protocol/verdict.ts';
import { orInfrastructure, testsGrade, type Grade, type GradeOptions, type Grader } from '../../verify/graders/grader.ts';
import { parsePatch } from '../../verify/patch/parse-patch.ts';
import { leaveOutTests } from '../../verify/patch/patch.ts';
import { unifiedDiff } from '../../verify/patch/unified-diff.ts';
import type { Containers } from '../../verify/sandbox/container/containers.ts';
import { testsOfImage, type TestsOfImage } from './image-tests.ts';
import { LOG_READERS } from './logs/log-readers.ts';
import type { SweBenchRow } from './rows.ts';

export interface SweBenchGraderParts {
  readonly containers: Containers;
  /** For runs of tests at the same time. */
  readonly slots: Slots;
  /** The project's files as the image has them, absolute. */
  readonly files: string;
  /** Paths of the files that were sent with the question. */
  readonly shown: readonly string[];
}

/**
 * Judges answers to a row of SWE-bench as its own harness does: right if all tests that the row names pass in its image after the answer's change,
 * where a test that passed before may also be skipped. Equal changes are judged once.
 */
export class SweBenchGrader implements Grader {
  readonly #row: SweBenchRow;
  readonly #parts: SweBenchGraderParts;
  readonly #grades = new AsyncMemo<string, Grade>();

  constructor(row: SweBenchRow, parts: SweBenchGraderParts) {
    this.#row = row;
    this.#parts = parts;
  }

  async grade({ answer, signal }: GradeOptions): Promise<Grade> {
    const { files, shown } = this.#parts;
    const { edits, refused } = leaveOutTests(await parsePatch(answer, files, { candidates: shown }));
    signal.throwIfAborted();
    const change = edits.map(unifiedDiff).join('');
    const [first] = refused;
    if (first) return { ...NOT_RIGHT, outcome: 'refused', reason: first.reason, change };
    if (change === '') return { ...NOT_RIGHT, reason: 'The question asks for a change, but the answer changes no file.', change };
    return { ...(await this.#grades.get(change, () => orInfrastructure(() => this.#verdict(change, signal)))), change };
  }

  async #verdict(change: string, signal: AbortSignal): Promise<Grade> {
    const { slots, containers } = this.#parts;
    await slots.take(signal);
    try {
      return gradeOfTests(this.#row, await testsOfImage(this.#row, { change, containers, signal }));
    } finally {
      slots.giveBack();
    }
  }
}

/** What the tests of a row say of a change, by the rules of its data set's own harness. */
export function gradeOfTests({ form, log: reader = 'pytest', failToPass, passToPass }: Pick<SweBenchRow, 'form' | 'log' | 'failToPass' | 'passToPass'>, { log, exitCode, exceeded }: TestsOfImage): Grade {
  const isLive = form === 'SWE-bench-Live';
  const summary = LOG_READERS[reader](log);
  const named = [
    ...failToPass.map((id): TestChange => ({ id, before: 'failed', after: summary.of(id) ?? 'missing' })),
    // A test that is skipped is as good as one that passes, unless it is to show the change.
    ...passToPass.map((id): TestChange => ({ id, before: 'passed', after: summary.of(id) === 'skipped' ? 'passed' : summary.of(id) ?? 'missing' })),
  ];
  // SWE-bench-Live wants no test to fail and one to show the change. What is not there has not failed.
  const tests = isLive ? named.filter(({ after }) => after === 'passed' || after === 'failed') : named;
  if (exceeded !== undefined) return testsGrade(tests, `The tests were ended: they exceeded their limit of ${exceeded}.`);
  if (summary.isEmpty) return testsGrade(tests, `The tests said nothing of how they ended: ${log.trim().slice(-300)}`);
  if (isLive && !tests.some(({ before, after }) => before === 'failed' && after === 'passed')) return testsGrade(tests, 'No test that failed before passed.');
  // A change can print what tests print. That its tests ended with an error, it cannot hide.
  if (!isLive && exitCode !== 0 && !summary.hasFailure) return testsGrade(tests, `The tests ended with ${exitCode ?? 'no code'}, and name none that failed.`);
  return testsGrade(tests, undefined);
}

const NOT_RIGHT = { verified: false, score: 0, outcome: 'failed', tests: [] } as const satisfies Omit<Grade, 'reason'>;
