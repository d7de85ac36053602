import * as vscode from 'vscode';
import { isDemonstration } from '../backend/protocol/demonstration-runs.ts';
import { answerOf } from '../backend/protocol/run-facts.ts';
import { isOver, type RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import type { ContextKeys, WalkthroughStep } from './common/context-keys.ts';

export interface WalkthroughProgressOptions {
  readonly contextKeys: Pick<ContextKeys, 'set'>;
  /** Remembers the completed steps across restarts. */
  readonly memory: vscode.Memento;
}

const DONE_KEY = 'conductor.walkthroughDone';

/**
 * Marks the walkthrough's steps as done however the user did them. VS Code marks a step only when its context key becomes true after a
 * walkthrough was first opened, never if the key was already true (microsoft/vscode `gettingStartedService.ts`). Therefore a key is true
 * only for a moment: when the step is done, and again when a walkthrough is opened.
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

  /** Watches for opened walkthroughs until the subscription is disposed. */
  watch(): vscode.Disposable {
    return vscode.window.tabGroups.onDidChangeTabs(({ opened, changed }) => {
      // Extensions see a walkthrough only as a tab without input.
      if ([...opened, ...changed].some(({ input }) => input === undefined)) for (const step of this.#done) this.#say(step);
    });
  }

  #say(step: WalkthroughStep): void {
    this.#options.contextKeys.set(step, true);
    this.#options.contextKeys.set(step, false);
  }
}

/** The steps that a run on show completes, no matter who started the run. */
export function stepsOf(run: RunSnapshot): WalkthroughStep[] {
  if (!isOver(run.state) || answerOf(run) === undefined) return [];
  const isShow = isDemonstration({ workspace: run.request.workspace, simulated: run.pool.some(({ simulated }) => simulated) });
  if (isShow) return ['didDemonstrate'];
  return ['didDemonstrate', 'didAsk', ...(answerOf(run)?.round.verdict && run.outcome !== 'unchecked' ? ['didTest' as const] : [])];
}
