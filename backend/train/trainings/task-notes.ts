import path from 'node:path';
import type { TaskNote, TaskNotes } from '../../protocol/training.ts';
import { clip } from '../../common/clip.ts';
import { SerialQueue } from '../../common/serial-queue.ts';
import type { Decisions, FrozenTasks, TasksFolder } from './tasks-folder.ts';

/** Training tasks first, left-out candidates last. */
const ORDER: readonly TaskNote['state'][] = ['train', 'held-out', 'left-out'];

/** The tasks of a training and what was left out, each with its reason: `limit` entries from `offset` on. */
export async function taskNotesOf(
  folder: Pick<TasksFolder, 'tasks' | 'decisions'>, { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<TaskNotes> {
  const [frozen, decisions] = await Promise.all([folder.tasks(), folder.decisions()]);
  const notes = [...projectNotes(frozen, decisions), ...fileNotes(frozen)];
  notes.sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  const count = (of: TaskNote['state']): number => notes.filter(({ state }) => state === of).length;
  return {
    offset,
    tasks: notes.slice(offset, offset + limit),
    total: notes.length,
    ...{ train: count('train'), heldOut: count('held-out'), leftOut: count('left-out') },
    untried: decisions?.untried ?? 0,
  };
}

function projectNotes(frozen: FrozenTasks | undefined, decisions: Decisions | undefined): TaskNote[] {
  if (decisions) return decisions.decided.map((note) => ({ ...note, source: 'project' }));
  // Earlier versions kept no reasons.
  return (frozen?.project ?? []).map(({ id: about, split: state }) =>
    ({ about, source: 'project', state, reason: 'Tests failed with it and passed without it, twice.' }));
}

function fileNotes(frozen: FrozenTasks | undefined): TaskNote[] {
  const { file } = frozen ?? {};
  if (!file) return [];
  const reason = file.isDrawn ? `It was drawn from ${file.path}.` : `It is in ${path.basename(file.path)}, whose tasks are used as they are.`;
  const noteOf = (state: 'train' | 'held-out') => (about: string): TaskNote => ({ about, source: 'file', state, reason });
  return [...file.train.map(noteOf('train')), ...file.heldOut.map(noteOf('held-out'))];
}

const MAX_REASON = 300;

/** Keeps the decision on each candidate for a task in the training's folder, while candidates are tried. */
export class DecisionKeeper {
  readonly #folder: Pick<TasksFolder, 'saveDecisions'>;
  readonly #decided: Decisions['decided'][number][] = [];
  readonly #writes = new SerialQueue();
  #untried = 0;
  /** The write that has not started yet. It includes everything decided until it starts. */
  #next: Promise<void> | undefined;

  constructor(folder: Pick<TasksFolder, 'saveDecisions'>) {
    this.#folder = folder;
  }

  decided({ about, state, reason }: Decisions['decided'][number]): void {
    this.#decided.push({ about, state, reason: clip(reason, MAX_REASON) });
    this.#keep();
  }

  /** The number of decisions, by state. */
  get counts(): { readonly train: number; readonly heldOut: number; readonly leftOut: number } {
    const count = (of: TaskNote['state']): number => this.#decided.filter(({ state }) => state === of).length;
    return { train: count('train'), heldOut: count('held-out'), leftOut: count('left-out') };
  }

  untried(count: number): void {
    this.#untried = count;
    this.#keep();
  }

  /** Resolves when everything is on disk. @throws where it cannot be written */
  kept(): Promise<void> {
    this.#next ??= this.#writes.run(async () => {
      // Decisions of the same turn go into the same write.
      await Promise.resolve();
      this.#next = undefined;
      await this.#folder.saveDecisions({ untried: this.#untried, decided: this.#decided });
    });
    return this.#next;
  }

  /** Each write has all decisions, so the next one makes up for one that fails. */
  #keep(): void {
    this.kept().catch(() => {});
  }
}
