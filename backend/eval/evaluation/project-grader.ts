import { AsyncMemo } from '../../common/async-memo.ts';
import type { Slots } from '../../common/slots.ts';
import type { ProjectTask } from '../../train/tasks/task.ts';
import type { Grade, GradeOptions, Grader } from '../../verify/graders/grader.ts';
import type { Patch } from '../../verify/patch/patch.ts';
import { unifiedDiff } from '../../verify/patch/unified-diff.ts';

/**
 * Judges answers to a task of a project as Solve does, by the project's tests and all rules of the judge: what only passes is not right. Equal
 * changes are judged once.
 */
export class ProjectGrader implements Grader {
  readonly #task: ProjectTask;
  readonly #slots: Slots;
  readonly #verdicts = new AsyncMemo<string, Grade>();

  /** @param slots for runs of tests at the same time */
  constructor(task: ProjectTask, slots: Slots) {
    this.#task = task;
    this.#slots = slots;
  }

  async grade({ answer, signal }: GradeOptions): Promise<Grade> {
    const { base, installed, baseEdits, shown, checker } = this.#task;
    const patch = await checker.onBase({ base, installed, baseEdits }, signal, (folder) => checker.parsePatch(answer, folder, shown));
    if (patch.edits.length === 0 && patch.refused.length === 0) return NO_CHANGE;
    const verdict = await this.#verdicts.get(JSON.stringify([patch.edits, patch.refused]), () => this.#verdict(patch, signal));
    return { ...verdict, change: patch.edits.map(unifiedDiff).join('') };
  }

  async #verdict(patch: Patch, signal: AbortSignal): Promise<Grade> {
    const { base, checker, testCommand } = this.#task;
    await this.#slots.take(signal);
    try {
      return await checker.verify({ base, command: testCommand, patch, sandboxed: true, signal });
    } finally {
      this.#slots.giveBack();
    }
  }
}

const NO_CHANGE: Grade = { verified: false, score: 0, outcome: 'failed', reason: 'The question asks for a change, but the answer changes no file.', tests: [], change: '' };
