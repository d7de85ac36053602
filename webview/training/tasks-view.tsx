import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { TaskNote, TaskNotes, Training } from '../../backend/protocol/training.ts';
import { Disclosure } from '../disclosure.tsx';
import { useHost } from '../host.ts';
import { visibleText } from '../markdown/visible-text.ts';

const FIRST = 100;
/** The most that is sent to the page; the command line prints all. */
const MOST = 500;

interface TasksProps {
  readonly training: Pick<Training, 'trainingId' | 'tasks' | 'state'>;
  readonly notes: TaskNotes | undefined;
}

/** The tasks of a training and those that were left out, with the reasons: asked for when somebody opens the list. */
export function TasksView({ training, notes }: TasksProps): JSX.Element | null {
  const { trainingId, tasks: { train, heldOut }, state } = training;
  const known = notes ? { train: notes.train, heldOut: notes.heldOut } : { train, heldOut };
  if (known.train + known.heldOut === 0 && !notes && state !== 'preparing' && state !== 'failed' && state !== 'paused') return null;
  return (
    <section class="tasks" aria-label="Tasks of the training">
      <Disclosure id={`${trainingId}/tasks`} title="Tasks" aside={countsOf(known, notes)}>
        <TaskGroups trainingId={trainingId} notes={notes} isMaking={state === 'preparing'} />
      </Disclosure>
    </section>
  );
}

function countsOf({ train, heldOut }: { readonly train: number; readonly heldOut: number }, notes: TaskNotes | undefined): string {
  return [`${train} to learn from`, `${heldOut} held out`, ...(notes && notes.leftOut > 0 ? [`${notes.leftOut} left out`] : [])].join(' · ');
}

const GROUPS: readonly { readonly state: TaskNote['state']; readonly title: string; readonly count: 'train' | 'heldOut' | 'leftOut' }[] = [
  { state: 'train', title: 'To learn from', count: 'train' },
  { state: 'held-out', title: 'Held out', count: 'heldOut' },
  { state: 'left-out', title: 'Left out', count: 'leftOut' },
];

function TaskGroups({ trainingId, notes, isMaking }: {
  readonly trainingId: string; readonly notes: TaskNotes | undefined; readonly isMaking: boolean;
}): JSX.Element {
  const host = useHost();
  const ask = (count: number): void => host.post({ type: 'trainingTasks', trainingId, count });
  useEffect(() => ask(FIRST), [trainingId]);
  if (!notes) return <p class="quiet">Reading the tasks…</p>;
  const { tasks, total, untried } = notes;
  return (
    <>
      {total === 0
        ? <p class="quiet">{isMaking ? 'None has been tried yet.' : 'There are none.'}</p>
        : <p class="quiet">A task of the project is admitted only where tests fail before its change is mended and pass afterwards, twice each.</p>}
      {GROUPS.map(({ state, title, count }) => notes[count] > 0 && (
        <Disclosure key={state} id={`${trainingId}/tasks/${state}`} title={title} aside={notes[count]} initially>
          <TaskList name={title} tasks={tasks.filter((task) => task.state === state)} of={notes[count]} />
        </Disclosure>
      ))}
      {untried > 0 && <p class="quiet">{isMaking ? `Still to be tried, at most: ${untried}.` : `Found and not tried: ${untried}.`}</p>}
      {tasks.length < total && tasks.length < MOST && (
        <button type="button" class="show-all" onClick={() => ask(Math.min(MOST, tasks.length + FIRST))}>
          Show more: {tasks.length} of {total} are here
        </button>
      )}
      {total > MOST && tasks.length >= MOST && (
        <p class="quiet">The first {MOST} of {total}; <code>conductor train show {trainingId} --tasks</code> prints all.</p>
      )}
    </>
  );
}

function TaskList({ name, tasks, of }: { readonly name: string; readonly tasks: readonly TaskNote[]; readonly of: number }): JSX.Element {
  return (
    <>
      {/* Long lists scroll, by keyboard too. */}
      <ul class="task-list" tabIndex={0} aria-label={name}>
        {tasks.map(({ about, reason }, index) => (
          <li key={`${index} ${about}`}>
            <bdi class="task-about">{visibleText(about)}</bdi>
            <span class="quiet" dir="auto">{visibleText(reason)}</span>
          </li>
        ))}
      </ul>
      {tasks.length < of && <p class="quiet">{tasks.length} of {of} are here.</p>}
    </>
  );
}
