import type { PooledWorkspace } from './pooled-workspaces.ts';
import type { WorkspaceCopy } from './workspace-copy.ts';

/** The next run of the tests often starts immediately. A reset before it would delay it. */
const RESET_AFTER_MS = 100;
const MAX_BYTES = 4 * 1024 ** 3;

export interface IdleCopyParts {
  readonly copy: WorkspaceCopy;
  readonly pooled: PooledWorkspace;
  readonly bytes: number;
  readonly reset: () => Promise<void>;
}

/** A copy that is not leased. */
export class IdleCopy {
  readonly copy: WorkspaceCopy;
  readonly pooled: PooledWorkspace;
  readonly bytes: number;
  readonly since = performance.now();
  readonly #reset: () => Promise<void>;
  #resetting: Promise<void> | undefined;
  #isReset = false;
  #timer: NodeJS.Timeout | undefined;

  constructor({ copy, pooled, bytes, reset }: IdleCopyParts) {
    this.copy = copy;
    this.pooled = pooled;
    this.bytes = bytes;
    this.#reset = reset;
  }

  get isReset(): boolean {
    return this.#isReset;
  }

  /** Resets the copy soon, once `isGoodTime` returns true, unless it is taken first. */
  resetLater(isGoodTime: () => boolean, onBeyondRepair: () => void): void {
    this.#timer = setTimeout(() => {
      if (isGoodTime()) void this.reset().catch(onBeyondRepair);
      else this.resetLater(isGoodTime, onBeyondRepair);
    }, RESET_AFTER_MS).unref();
  }

  /** Resets the copy now. Rejects if it is beyond repair. */
  async reset(): Promise<void> {
    this.cancelReset();
    this.#resetting ??= this.#reset();
    await this.#resetting;
    this.#isReset = true;
  }

  cancelReset(): void {
    clearTimeout(this.#timer);
  }
}

/** The copies that are not leased, the most recent last. */
export class IdleCopies {
  readonly #copies: IdleCopy[] = [];
  readonly #removeCopy: (copy: WorkspaceCopy) => void;

  constructor(removeCopy: (copy: WorkspaceCopy) => void) {
    this.#removeCopy = removeCopy;
  }

  get count(): number {
    return this.#copies.length;
  }

  /** Adds a copy, and removes the oldest ones if the total size is too large. */
  add(idle: IdleCopy): void {
    this.#copies.push(idle);
    while (this.#copies.length > 1 && this.#copies.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_BYTES) this.removeOldest();
  }

  /** Takes the most recent copy of a workspace, preferably one that is reset. */
  take(pooled: PooledWorkspace): IdleCopy | undefined {
    const own = this.#copies.filter((idle) => idle.pooled === pooled);
    const chosen = own.findLast(({ isReset }) => isReset) ?? own.at(-1);
    if (chosen) this.#copies.splice(this.#copies.indexOf(chosen), 1);
    return chosen;
  }

  hasOf(pooled: PooledWorkspace): boolean {
    return this.#copies.some((idle) => idle.pooled === pooled);
  }

  removeOldest(): void {
    const [oldest] = this.#copies;
    if (oldest) this.remove((idle) => idle === oldest);
  }

  remove(isUnwanted: (idle: IdleCopy) => boolean): void {
    for (const idle of this.#copies.filter(isUnwanted)) {
      this.#copies.splice(this.#copies.indexOf(idle), 1);
      idle.cancelReset();
      this.#removeCopy(idle.copy);
    }
  }
}
