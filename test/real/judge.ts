import { mkdir } from 'node:fs/promises';
import { openVerificationParts, type VerificationParts } from '../../backend/wiring/verification.ts';
import { readHead, writeHead } from '../../backend/verify/git/git-head.ts';
import { parseDiffFile } from '../../backend/verify/patch/diff-file.ts';
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

  async judge(
    workspace: string, diff: string, { what, test: { command, runner }, signal }: { readonly what: string; readonly test: FoundTests; readonly signal: AbortSignal },
  ): Promise<JudgedPatch> {
    const started = performance.now();
    const folder = await this.#parts.folders.create();
    try {
      const head = await readHead(workspace, signal);
      const base = await writeHead(head, folder.workspace, signal);
      const { patch } = await parseDiffFile(diff, base.folder, head);
      const { outcome, reason } = await this.#parts.verifier.verify({
        base: base.folder, installed: workspace, patch, protectedEdits: 'leave out', command, runner, signal,
      });
      return { what, outcome, reason, seconds: (performance.now() - started) / 1_000 };
    } finally {
      await folder.remove();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.close();
  }
}
