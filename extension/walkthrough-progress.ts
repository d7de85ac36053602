import * as vscode from 'vscode';
import { isDemonstration } from '../backend/protocol/demonstration-runs.ts';
import { answerOf, isOver, type RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import type { ContextKeys, WalkthroughStep } from './common/context-keys.ts';

export interface WalkthroughProgressOptions {
  readonly contextKeys: Pick<ContextKeys, 'set'>;
  /** Remembers over restarts what was done. */
  readonly memory: vscode.Memento;
}

const DONE_KEY = 'conductor.walkthroughDone';

/**
 * Ticks the walkthrough's steps however a thing was done. VS Code ticks a step when its context key turns true while it looks, which it
 * begins with the first walkthrough that is opened, and never where the key was true before (microsoft/vscode
 * `gettingStartedService.ts`). So a key is true for a moment only: when the thing is done, and again when a walkthrough is opened.
 */
export class WalkthroughProgress {
  readonly #options: WalkthroughProgressOptions;
  readonly #done: Set<WalkthroughStep>;

  constructor(options: WalkthroughProgressOptions) {
    this.#options = options;
    this.#done = new Set(options.memory.get<readonly WalkthroughStep[]>(DONE_KEY, []));
  }

  did(step: WalkthroughStep): void {
    if (this.#done.has(step)) return;
    this.#done.add(step);
    void this.#options.memory.update(DONE_KEY, [...this.#done]);
    this.#say(step);
  }

  /** Looks for walkthroughs that are opened, until the returned subscription is disposed of. */
  watch(): vscode.Disposable {
    return vscode.window.tabGroups.onDidChangeTabs(({ opened, changed }) => {
      // A walkthrough is a page of VS Code's own, of which an extension is told no more than that.
      if ([...opened, ...changed].some(({ input }) => input === undefined)) for (const step of this.#done) this.#say(step);
    });
  }

  #say(step: WalkthroughStep): void {
    this.#options.contextKeys.set(step, true);
    this.#options.contextKeys.set(step, false);
  }
}

/** The steps that a run on show is: it is seen to work, whoever asked. */
export function stepsOf(run: RunSnapshot): WalkthroughStep[] {
  if (!isOver(run.state) || answerOf(run) === undefined) return [];
  const isShow = isDemonstration({ workspace: run.request.workspace, simulated: run.pool.some(({ simulated }) => simulated) });
  if (isShow) return ['didDemonstrate'];
  return ['didDemonstrate', 'didAsk', ...(run.outcome === undefined || run.outcome === 'unchecked' ? [] : ['didTest' as const])];
}
