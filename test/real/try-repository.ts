import { rm } from 'node:fs/promises';
import path from 'node:path';
import { languageOf } from '../../backend/verify/syntax/language.ts';
import { findTestCommand, type FoundTests } from '../../backend/verify/runners/find-tests.ts';
import { isProductSource } from '../bench/context/historic-fix.ts';
import { lastSaid, runCommand, type CommandRun } from './command-run.ts';
import { areAllIn, failedTests } from './failed-tests.ts';
import { install, NotInstalledError } from './install.ts';
import type { Judge } from './judge.ts';
import { changesDependencies, type PinnedFix } from './pinned-fix.ts';
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
  /** What was found of the repository before: fixes that were judged are not judged again. */
  readonly before: RepositoryResult | undefined;
  readonly tell: (line: string) => void;
}

/** Tries the candidates of a repository until `trial.fixes` of them are judged. What goes wrong is told in the result. */
export async function tryRepository(repository: string, candidates: readonly PinnedFix[], trial: Trial): Promise<RepositoryResult> {
  const until = performance.now() + trial.limitMs;
  const signal = AbortSignal.timeout(trial.limitMs);
  const known = trial.before?.fixes.filter(isJudged) ?? [];
  let result: RepositoryResult = { ...trial.before, repository, fixes: known };
  const left = candidates.filter(({ commit }) => !known.some((fix) => fix.commit === commit));
  const isEnough = (): boolean => result.fixes.filter(isJudged).length >= trial.fixes;
  for (let fix = left.shift(); fix !== undefined && !isEnough() && !signal.aborted; fix = left.shift()) {
    const folder = path.join(trial.work, repository.replace('/', '+'), fix.commit.slice(0, 10));
    try {
      const attempt = new Attempt(await checkOut(fix, folder, trial.repositories), trial, until, signal);
      const tried = await attempt.try();
      const language = attempt.language;
      result = { ...result, ...(language && { language }), fixes: [...result.fixes, { ...tried, date: new Date().toISOString().slice(0, 10) }] };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (!signal.aborted) result = { ...result, fixes: [...result.fixes, { commit: fix.commit, notTried: why.replaceAll(folder, '.').slice(0, 400) }] };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  const { repository: name, language, fixes } = result;
  const note = trial.before?.note;
  const told = { repository: name, ...(language && { language }), ...(note !== undefined && { note }), fixes, left: left.length };
  return signal.aborted && !isEnough() ? { ...told, stopped: `not done in ${trial.limitMs / 60_000} minutes` } : told;
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

  async try(): Promise<TriedFix> {
    const { folder, fix: { commit } } = this.#workspace;
    if (changesDependencies(this.#workspace)) return { commit, notTried: 'it changes what the project depends on' };
    try {
      await install(folder, this.#until - performance.now());
    } catch (error) {
      if (!(error instanceof NotInstalledError)) throw error;
      return { commit, notTried: `not installed: ${error.message}` };
    }
    // Some tools write into what is committed, such as go.sum, which the judge does not see.
    await putBack(this.#workspace);
    const test = await findTestCommand(folder);
    if (!test) return { commit, notTried: 'no test command was found' };
    const { runner } = test;
    const not = (notTried: string): TriedFix => ({ commit, runner, notTried });
    const before = await this.#bare(test);
    if (before.exitCode === 0) return not('its tests are green without it');
    await applyFix(this.#workspace);
    const after = [await this.#bare(test), await this.#bare(test)] as const;
    const red = redAnyway(before, after, runner);
    if (red === undefined) {
      const run = after.find(({ exitCode }) => exitCode !== 0) ?? after[1];
      const [then, now] = [before, run].map((each) => failedTests(each, runner));
      if (then && now && then.size > 0 && areAllIn(then, now) && areAllIn(now, then)) return not('the same tests are red with it and without it');
      return not(`the bare command is not green with it: ${run.exitCode === null ? 'it did not end in time' : lastSaid(run)}`);
    }
    const patches = (await wrongPatches(this.#workspace)).slice(0, this.#trial.wrongPatches);
    const honest = await this.#judge(test, 'the fix', red);
    const wrong: JudgedPatch[] = [];
    try {
      for (const patch of patches) {
        const judged = await this.#tryWrong(test, patch, red);
        if (judged) wrong.push(judged);
      }
    } catch (error) {
      // What was seen until the time was over is told.
      if (!this.#signal.aborted) throw error;
    }
    const verified = wrong.filter(({ outcome }) => outcome === 'verified');
    const amiss = wrong.filter(({ outcome }) => outcome === 'verified' || outcome === 'passes' || outcome === 'infrastructure');
    const isGreen = after.every(({ exitCode }) => exitCode === 0);
    return {
      commit, runner, honest, bareSeconds: after[1].seconds, ...(!isGreen && { redAnyway: red.size }), wrong: { tried: wrong.length, verified: verified.length, amiss },
    };
  }

  /** The verdict on a patch, or undefined if the bare tests do not notice that it is wrong. `red`: tests that are red with the fix, too. */
  async #tryWrong(test: FoundTests, { what, on, texts }: WrongPatch, red: ReadonlySet<string>): Promise<JudgedPatch | undefined> {
    await putBack(this.#workspace);
    if (on === 'fix') await applyFix(this.#workspace);
    await write(this.#workspace, texts);
    const failed = failedTests(await this.#bare(test), test.runner);
    return failed && areAllIn(failed, red) ? undefined : await this.#judge(test, what, red);
  }

  async #judge(test: FoundTests, what: string, redAnyway: ReadonlySet<string>): Promise<JudgedPatch> {
    const judged = await this.#trial.judge.judge(this.#workspace.folder, await difference(this.#workspace), { what, test, redAnyway, signal: this.#signal });
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

/**
 * The tests that are red with a fix and without it: none if the bare command is green with the fix. Undefined if the fix mends no test, breaks
 * one, or nothing shows which tests were red.
 */
function redAnyway(before: CommandRun, after: readonly CommandRun[], runner: string): ReadonlySet<string> | undefined {
  if (after.every(({ exitCode }) => exitCode === 0)) return new Set();
  const red = failedTests(before, runner);
  const still = after.map((run) => failedTests(run, runner));
  if (!red || !still.every((names) => names !== undefined)) return undefined;
  const all = new Set(still.flatMap((names) => [...names]));
  return all.size < red.size && areAllIn(all, red) ? all : undefined;
}
