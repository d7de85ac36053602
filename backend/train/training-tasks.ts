import path from 'node:path';
import type { TaskNote, TaskNotes } from '../protocol/training.ts';
import type { FrozenTasks, KeptCandidates, TrainingFolder } from './training-folder.ts';

/** What is learned from comes first, what was left out last. */
const ORDER: readonly TaskNote['state'][] = ['trying', 'train', 'held-out', 'admitted', 'left-out'];

/** The tasks of a training and what was left out, each with its reason: so many (`limit`) of them, from `offset` on. */
export async function taskNotesOf(
  folder: Pick<TrainingFolder, 'tasks' | 'candidates'>, { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<TaskNotes> {
  const [frozen, candidates] = await Promise.all([folder.tasks(), folder.candidates()]);
  const notes = [...projectNotes(frozen, candidates), ...fileNotes(frozen)];
  notes.sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  const leftOut = notes.filter(({ state }) => state === 'left-out').length;
  const trying = notes.filter(({ state }) => state === 'trying').length;
  return {
    offset,
    tasks: notes.slice(offset, offset + limit),
    total: notes.length,
    admitted: notes.length - leftOut - trying,
    leftOut,
    untried: candidates ? Math.max(0, candidates.found - candidates.notes.length) : 0,
  };
}

function projectNotes(frozen: FrozenTasks | undefined, candidates: KeptCandidates | undefined): TaskNote[] {
  if (candidates) return candidates.notes.map((note) => ({ ...note, source: 'project' }));
  // An earlier version kept no reasons.
  return (frozen?.project ?? []).map(({ id: about, split: state }) =>
    ({ about, source: 'project', state, reason: 'Tests failed with it and passed without it, twice.' }));
}

function fileNotes(frozen: FrozenTasks | undefined): TaskNote[] {
  const { file } = frozen ?? {};
  if (!file) return [];
  const reason = `It stands in ${path.basename(file.path)}, whose tasks are taken as they are.`;
  const noteOf = (state: 'train' | 'held-out') => (about: string): TaskNote => ({ about, source: 'file', state, reason });
  return [...file.train.map(noteOf('train')), ...file.heldOut.map(noteOf('held-out'))];
}
