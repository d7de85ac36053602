import { addedTests } from './patch/added-tests.ts';
import type { BaseTests} from './base-tests.ts';
import { type BaseTestsParts } from './base-tests.ts';
import type { ChosenRunner } from './runners/choose-runner.ts';
import type { KnownJudgingFiles } from './closure/judging-files.ts';
import { embeddedTests, weakensEmbeddedTests } from './judge/embedded-tests.ts';
import { counted } from '../common/counted.ts';
import type { Judgement } from './judge/judge.ts';
import type { FileEdit, Patch } from './patch/patch.ts';
import { protectedReason } from './files/protected-paths.ts';
import { ID_SEPARATOR, type TestReport } from './runners/test-report.ts';
import type { Notes } from './notes.ts';
import type { VerifyOptions } from './verify-options.ts';

/** The patch may not be applied. The message says why. */
export class RefusedPatch extends Error {}

/** What of a patch may be applied: nothing that judges it, unless the tests of a person's change judge as the change has them. */
export class PatchAdmission {
  readonly #parts: Pick<BaseTestsParts, 'copies'>;
  readonly #options: VerifyOptions;
  readonly #judges: KnownJudgingFiles;
  readonly #notes: Notes;
  /** Files of the change that judge it. */
  readonly #ownJudges: Set<string>;
  /** Edits that add tests, if the patch may. */
  #tests: ReadonlySet<FileEdit> = new Set();

  constructor(parts: Pick<BaseTestsParts, 'copies'>, options: VerifyOptions, { judges, notes }: { readonly judges: KnownJudgingFiles; readonly notes: Notes }) {
    this.#parts = parts;
    this.#options = options;
    this.#judges = judges;
    this.#notes = notes;
    this.#ownJudges = new Set(options.ownTests);
  }

  /** The patch without its edits of protected files. Throws `RefusedPatch`. */
  async admit({ edits }: Patch, { runner }: ChosenRunner): Promise<Pick<Patch, 'edits'>> {
    if (this.#options.newTests) this.#tests = await addedTests(edits, runner.configuration);
    return this.#without(edits, (edit) => (this.#tests.has(edit) ? undefined : protectedReason(edit.path, runner.configuration)));
  }

  /** Whether the edit adds tests that the patch may add. */
  addsTests(edit: FileEdit): boolean {
    return this.#tests.has(edit);
  }

  withoutTests({ edits }: Pick<Patch, 'edits'>): Pick<Patch, 'edits'> {
    return { edits: edits.filter((edit) => !this.#tests.has(edit)) };
  }

  /** The patch without its edits of what judges by its place in the project, whatever its name. Throws `RefusedPatch`. */
  async withoutJudges({ edits }: Pick<Patch, 'edits'>, { snapshot, chosen: { runner, command } }: BaseTests): Promise<Pick<Patch, 'edits'>> {
    const { base, installed = base } = this.#options;
    const reasons = await this.#parts.copies.onFiles(snapshot, async (files) => {
      const judging = this.#judges.of(files, { command, configuration: runner.configuration }, installed);
      const found = new Map<FileEdit, string | undefined>();
      for (const edit of edits) if (!this.#tests.has(edit)) found.set(edit, await judging.whyItJudges(edit));
      return found;
    });
    return this.#without(edits, (edit) => {
      const reason = reasons.get(edit);
      return reason !== undefined && this.#isOwnJudge(edit.path, reason) ? undefined : reason;
    });
  }

  /** A patch may not change a file in which the base has tests. In a source file it may change all but the tests. Throws `RefusedPatch`. */
  async checkEmbeddedTests({ edits }: Pick<Patch, 'edits'>, before: TestReport): Promise<void> {
    const withTests = new Set(before.results.map(({ id }) => id.split(ID_SEPARATOR)[0]));
    for (const { path, before: text, after } of edits) {
      if (text === null) continue;
      const isSource = path.endsWith('.rs') || (withTests.has(path) && (await embeddedTests(text, path)).length > 0);
      const isJudge = isSource ? await weakensEmbeddedTests(path, text, after ?? '') : withTests.has(path);
      if (isJudge && !this.#isOwnJudge(path, 'There are tests in it.'))
        throw new RefusedPatch(`The change may not be applied: ${path}: There are tests in it, and tests are the judge.`);
    }
  }

  /** What a change is worth whose own tests judge it. */
  byOwnTests(judged: Judgement): Judgement {
    const count = this.#ownJudges.size;
    if (count === 0 || (judged.outcome !== 'verified' && judged.outcome !== 'passes')) return judged;
    return { ...judged, verified: false, outcome: 'passes', reason: `${judged.reason} The change's own tests judged: it changes ${counted(count, 'file')} of them.` };
  }

  /** Whether the change judges with this file, as it has it. */
  #isOwnJudge(path: string, why: string): boolean {
    if (!this.#options.ownTests) return false;
    this.#ownJudges.add(path);
    this.#notes.add(`${path} judges as the change has it: ${why}`);
    return true;
  }

  /** Refuses the edits for which there is a reason, or leaves them out of a person's change. */
  #without(edits: readonly FileEdit[], reasonOf: (edit: FileEdit) => string | undefined): Pick<Patch, 'edits'> {
    const rest = edits.filter((edit) => {
      const reason = reasonOf(edit);
      if (reason === undefined) return true;
      if (this.#options.protectedEdits !== 'leave out')
        throw new RefusedPatch(`The change may not be applied: ${edit.path}: ${reason}`);
      this.#notes.add(`${edit.path} was left as it is: ${reason}`);
      return false;
    });
    if (rest.length === 0 && !this.#options.ownTests) throw new RefusedPatch('The change edits only protected files, such as the tests themselves.');
    return { edits: rest };
  }
}
