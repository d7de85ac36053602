import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { TaskNote, TaskNotes, Training } from '../../backend/protocol/training.ts';
import { Disclosure } from '../disclosure.tsx';
import { fillSentence } from '../fill-sentence.ts';
import { useHost } from '../host.ts';
import { visibleText } from '../markdown/visible-text.ts';

const FIRST = 100;
/** The most tasks to send to the page; the command line prints all. */
const MOST = 500;

interface TasksProps {
  readonly training: Pick<Training, 'trainingId' | 'tasks' | 'making' | 'state'>;
  readonly notes: TaskNotes | undefined;
}

/** The tasks of a training, and the excluded ones with the reasons. Requested when the user opens the list. */
export function TasksView({ training, notes }: TasksProps): JSX.Element | null {
  const { trainingId, tasks, making, state } = training;
  const known = notes ?? making ?? { ...tasks, leftOut: 0 };
  if (known.train + known.heldOut === 0 && !notes && !making && state !== 'preparing' && state !== 'failed' && state !== 'paused') return null;
  return (
    <section class="tasks" aria-label={l10n.t('Tasks of the training')}>
      <Disclosure id={`${trainingId}/tasks`} title={l10n.t('Tasks')} aside={countsOf(known)}>
        <TaskGroups trainingId={trainingId} notes={notes} isMaking={state === 'preparing' || making !== undefined} />
      </Disclosure>
    </section>
  );
}

function countsOf({ train, heldOut, leftOut }: Pick<TaskNotes, 'train' | 'heldOut' | 'leftOut'>): string {
  return [
    l10n.t('{0} to learn from', train), l10n.t('{0} held out', heldOut), ...(leftOut > 0 ? [l10n.t('{0} left out', leftOut)] : []),
  ].join(' · ');
}

interface TaskGroup {
  readonly state: TaskNote['state'];
  readonly title: string;
  readonly count: 'train' | 'heldOut' | 'leftOut';
}

const groups = (): readonly TaskGroup[] => [
  { state: 'train', title: l10n.t('To learn from'), count: 'train' },
  { state: 'held-out', title: l10n.t('Held out'), count: 'heldOut' },
  { state: 'left-out', title: l10n.t('Left out'), count: 'leftOut' },
];

function TaskGroups({ trainingId, notes, isMaking }: {
  readonly trainingId: string; readonly notes: TaskNotes | undefined; readonly isMaking: boolean;
}): JSX.Element {
  const host = useHost();
  const ask = (count: number): void => host.post({ type: 'trainingTasks', trainingId, count });
  useEffect(() => ask(FIRST), [trainingId]);
  if (!notes) return <p class="quiet">{l10n.t('Reading the tasks…')}</p>;
  const { tasks, total, untried } = notes;
  return (
    <>
      {total === 0
        ? <p class="quiet">{isMaking ? l10n.t('None has been tried yet.') : l10n.t('There are none.')}</p>
        : (
          <p class="quiet">
            {l10n.t('A task is admitted only if tests fail before the fix and pass after it, twice each.')}
          </p>
        )}
      {groups().map(({ state, title, count }) => notes[count] > 0 && (
        <Disclosure key={state} id={`${trainingId}/tasks/${state}`} title={title} aside={notes[count]} initially>
          <TaskList name={title} tasks={tasks.filter((task) => task.state === state)} of={notes[count]} />
        </Disclosure>
      ))}
      {untried > 0 && (
        <p class="quiet">{isMaking ? l10n.t('Still to be tried, at most: {0}.', untried) : l10n.t('Found and not tried: {0}.', untried)}</p>
      )}
      {tasks.length < total && tasks.length < MOST && (
        <button type="button" class="show-all" onClick={() => ask(Math.min(MOST, tasks.length + FIRST))}>
          {l10n.t('Show more: {0} of {1} are here', tasks.length, total)}
        </button>
      )}
      {total > MOST && tasks.length >= MOST && (
        <p class="quiet">
          {fillSentence(l10n.t('The first {0} of {1}; {2} prints all.'), MOST, total, <code>{`conductor train show ${trainingId} --tasks`}</code>)}
        </p>
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
      {tasks.length < of && <p class="quiet">{l10n.t('{0} of {1} are here.', tasks.length, of)}</p>}
    </>
  );
}
