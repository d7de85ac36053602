import { rm } from 'node:fs/promises';
import path from 'node:path';
import { languageOf } from '../../backend/verify/syntax/language.ts';
import { findTestCommand, type FoundTests } from '../../backend/verify/runners/find-tests.ts';
import { isProductSource } from '../bench/context/historic-fix.ts';
import { lastSaid, runCommand, type CommandRun } from './command-run.ts';
import { install, NotInstalledError } from './install.ts';
import type { Judge } from './judge.ts';
import type { PinnedFix } from './pinned-fix.ts';
import { isJudged, type JudgedPatch, type RepositoryResult, type TriedFix } from './result.ts';
import { applyFix, checkOut, difference, putBack, write, type Workspace } from './workspace.ts';
import { wrongPatches, type WrongPatch } from './wrong-patches.ts';

export interface Trial {
  /** Absolute: where checkouts are made. */
  readonly work: string;
  readonly repositories: string | undefined;
  readonly judge: Judge;
  /** For the whole repository. */
  readonly limitMs: number;
  /** How many fixes are judged. */
  readonly fixes: number;
  /** The most wrong patches of each fix. */
  readonly wrongPatches: number;
  readonly tell: (line: string) => void;
}

/** Tries the candidates of a repository until `trial.fixes` of them are judged. What goes wrong is told in the result. */
export async function tryRepository(repository: string, candidates: readonly PinnedFix[], trial: Trial): Promise<RepositoryResult> {
  const until = performance.now() + trial.limitMs;
  const signal = AbortSignal.timeout(trial.limitMs);
  let result: RepositoryResult = { repository, fixes: [] };
  for (const fix of candidates) {
    if (result.fixes.filter(isJudged).length === trial.fixes) break;
    if (signal.aborted) break;
    const folder = path.join(trial.work, repository.replace('/', '+'), fix.commit.slice(0, 10));
    try {
      const attempt = new Attempt(await checkOut(fix, folder, trial.repositories), trial, until, signal);
      const { tried, test } = await attempt.try();
      const language = attempt.language;
      result = { ...result, ...(language && { language }), ...(test && { runner: test.runner, command: test.command }), fixes: [...result.fixes, tried] };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (!signal.aborted) result = { ...result, fixes: [...result.fixes, { commit: fix.commit, notTried: why.slice(0, 400) }] };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  const isWhole = !signal.aborted || result.fixes.filter(isJudged).length === trial.fixes;
  return isWhole ? { ...result, left: candidates.length - result.fixes.length } : { ...result, stopped: `not done in ${trial.limitMs / 60_000} minutes` };
}

interface Tried {
  readonly tried: TriedFix;
  readonly test?: FoundTests;
}

/** One fix. */
class Attempt {
  readonly #workspace: Workspace;
  readonly #trial: Trial;
  readonly #until: number;
  readonly #signal: AbortSignal;

  constructor(workspace: Workspace, trial: Trial, until: number, signal: AbortSignal) {
    this.#workspace = workspace;
    this.#trial = trial;
    this.#until = until;
    this.#signal = signal;
  }

  get language(): string | undefined {
    const source = this.#workspace.sources.find(({ path }) => isProductSource(path));
    return source && languageOf(source.path);
  }

  async try(): Promise<Tried> {
    const { folder, fix: { commit } } = this.#workspace;
    const not = (notTried: string): TriedFix => ({ commit, notTried });
    try {
      await install(folder, this.#until - performance.now());
    } catch (error) {
      if (!(error instanceof NotInstalledError)) throw error;
      return { tried: not(`not installed: ${error.message}`) };
    }
    const test = await findTestCommand(folder);
    if (!test) return { tried: not('no test command was found') };
    const before = await this.#bare(test);
    if (before.exitCode === 0) return { test, tried: not('its tests are green without it') };
    await applyFix(this.#workspace);
    const [first, second] = [await this.#bare(test), await this.#bare(test)];
    const red = [first, second].find(({ exitCode }) => exitCode !== 0);
    if (red) return { test, tried: not(`the bare command is not green with it: ${red.exitCode === null ? 'it did not end in time' : lastSaid(red)}`) };
    const patches = (await wrongPatches(this.#workspace)).slice(0, this.#trial.wrongPatches);
    const honest = await this.#judge(test, 'the fix');
    const wrong: JudgedPatch[] = [];
    let unnoticed = 0;
    try {
      for (const patch of patches) {
        const judged = await this.#tryWrong(test, patch);
        if (judged) wrong.push(judged);
        else unnoticed += 1;
      }
    } catch (error) {
      // What was seen until the time was over is told.
      if (!this.#signal.aborted) throw error;
    }
    return { test, tried: { commit, honest, bareSeconds: second.seconds, wrong, unnoticed } };
  }

  /** The verdict on a patch, or undefined if the bare tests do not notice that it is wrong. */
  async #tryWrong(test: FoundTests, { what, on, texts }: WrongPatch): Promise<JudgedPatch | undefined> {
    await putBack(this.#workspace);
    if (on === 'fix') await applyFix(this.#workspace);
    await write(this.#workspace, texts);
    const { exitCode } = await this.#bare(test);
    return exitCode === 0 ? undefined : await this.#judge(test, what);
  }

  async #judge(test: FoundTests, what: string): Promise<JudgedPatch> {
    const judged = await this.#trial.judge.judge(this.#workspace.folder, await difference(this.#workspace), { what, test, signal: this.#signal });
    this.#trial.tell(`  ${what}: ${judged.outcome}, ${judged.seconds.toFixed(1)} s: ${judged.reason}`);
    return judged;
  }

  /** Throws the signal's reason if the time of the repository is over. */
  async #bare({ command }: FoundTests): Promise<CommandRun> {
    const run = await runCommand(this.#workspace.folder, command, this.#until - performance.now());
    this.#trial.tell(`  by hand: ${run.exitCode === 0 ? 'green' : 'red'}, ${run.seconds.toFixed(1)} s`);
    this.#signal.throwIfAborted();
    return run;
  }
}
