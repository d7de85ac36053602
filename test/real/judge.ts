import { mkdir } from 'node:fs/promises';
import { openVerificationParts, type VerificationParts } from '../../backend/wiring/verification.ts';
import { readHead, writeHead } from '../../backend/verify/git/git-head.ts';
import { parseDiffFile } from '../../backend/verify/patch/diff-file.ts';
import { ID_SEPARATOR } from '../../backend/verify/runners/test-report.ts';
import type { FoundTests } from '../../backend/verify/runners/find-tests.ts';
import type { JudgedPatch } from './result.ts';

/** Judges diffs on one checkout by what `conductor verify` consists of. What it learns of the base is kept from one diff to the next. */
export class Judge implements AsyncDisposable {
  readonly #parts: VerificationParts;

  private constructor(parts: VerificationParts) {
    this.#parts = parts;
  }

  /** @param home an absolute folder for the files of Conductor */
  static async open(home: string): Promise<Judge> {
    await mkdir(home, { recursive: true });
    return new Judge(await openVerificationParts(home));
  }

  /** `redAnyway`: names of tests that are red with the fix, too. If there are any, the other tests that fail are named, as a person would by `--test`. */
  async judge(
    workspace: string, diff: string,
    { what, test: { command, runner }, redAnyway, signal }: { readonly what: string; readonly test: FoundTests; readonly redAnyway: ReadonlySet<string>; readonly signal: AbortSignal },
  ): Promise<JudgedPatch> {
    const started = performance.now();
    const folder = await this.#parts.folders.create();
    try {
      const head = await readHead(workspace, signal);
      const base = await writeHead(head, folder.workspace, signal);
      const { patch } = await parseDiffFile(diff, base.folder, head);
      const options = { base: base.folder, installed: workspace, command, runner, signal };
      const failing = redAnyway.size > 0 ? (await this.#parts.verifier.testBase(options)).failing.map(({ id }) => id) : [];
      const targets = failing.filter((id) => ![...redAnyway].some((name) => id.endsWith(name.replaceAll('::', ID_SEPARATOR))));
      const { outcome, reason } = await this.#parts.verifier.verify({ ...options, patch, protectedEdits: 'leave out', targets });
      return { what, outcome, reason, seconds: (performance.now() - started) / 1_000 };
    } finally {
      await folder.remove();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.close();
  }
}
