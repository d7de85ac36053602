import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import type { FileChange } from '../../backend/protocol/file-change.ts';
import type { EditSummary } from '../../backend/protocol/run-events.ts';
import type { StepView, TurnView } from '../../backend/protocol/run-snapshot.ts';
import { turnText } from '../../backend/protocol/turn-text.ts';
import { Icon } from '../controls.tsx';
import { DiffView } from '../diff-view.tsx';
import { Disclosure } from '../disclosure.tsx';
import { Capped } from '../markdown/capped.tsx';
import { visibleText } from '../markdown/visible-text.ts';
import { Told } from './step-steering.tsx';

const MAX_TITLE = 60;

/** What a worker did before its output, turn by turn as they come: what it wrote, what it changed, and what it was given. */
export function StepTurns({ step, id }: { readonly step: StepView; readonly id: string }): JSX.Element | null {
  const { turns = [] } = step;
  if (turns.length === 0) return null;
  return (
    <div class="details">
      <h5 class="label">{l10n.t('Turns')}</h5>
      {turns.map((turn, index) => (
        <Disclosure
          key={index} id={`${id}/step-${step.index}/turn-${index}`} title={`${index + 1} · ${visibleText(titleOf(turn))}`} aside={<TurnResult turn={turn} />}
        >
          <Turn turn={turn} />
        </Disclosure>
      ))}
    </div>
  );
}

function Turn({ turn: { reply, calls = [], changes = [], observation, told = [] } }: { readonly turn: TurnView }): JSX.Element {
  const words = turnText(reply, calls.filter(({ name }) => !isToldBelow(name, { changes, observation }))).trim();
  return (
    <>
      {words !== '' && <pre tabIndex={0} role="group" aria-label={l10n.t('What it wrote')} dir="auto"><Capped text={words} /></pre>}
      {changes.filter(({ removed, inserted }) => removed !== inserted).map((change) => <DiffView key={change.path} edit={asEdit(change)} />)}
      {observation !== undefined && <pre tabIndex={0} role="group" aria-label={l10n.t('What it was given')} dir="auto"><Capped text={observation} /></pre>}
      {told.map((text, index) => <Told key={index} text={text} />)}
    </>
  );
}

/** Whether the diff or the result says all that a tool call says. */
function isToldBelow(name: string, { changes = [], observation }: Pick<TurnView, 'changes' | 'observation'>): boolean {
  if (observation === undefined) return false;
  return ['read', 'search', 'test'].includes(name) || (changes.length > 0 && ['edit', 'create', 'delete'].includes(name));
}

/** What came of it, beside its title: the tests that pass and fail, or the lines that changed. */
function TurnResult({ turn: { observation, changes = [] } }: { readonly turn: TurnView }): JSX.Element | null {
  if (observation === undefined) return <Icon name="loading" tone="busy" label={l10n.t('in progress')} />;
  const [, passed, failed] = TESTS.exec(observation) ?? [];
  if (passed !== undefined) {
    return failed === '0'
      ? <span class="tone-good">{l10n.t('{0} passed', passed)}</span>
      : <span class="tone-bad">{l10n.t('{0} passed, {1} failed', passed, failed ?? '')}</span>;
  }
  const changed = changes.filter(({ removed, inserted }) => removed !== inserted).map(({ path }) => path.split('/').at(-1) ?? path);
  const [first, ...others] = changed;
  if (first === undefined) return null;
  return <span>{visibleText(others.length > 0 ? l10n.t('{0} and {1} more', first, others.length) : first)}</span>;
}

/** As the worker is told of its tests (backend/hands/tests-in-words.ts). */
const TESTS = /^(\d+) tests? passed, (\d+) failed/m;

/** What it asked for, as its result names it; otherwise its first words. */
function titleOf({ observation = '', reply }: TurnView): string {
  const asked = [...observation.matchAll(/^Result of (.+):$/gm)].map(([, name = '']) => name);
  const title = asked.length > 0 ? asked.join(', ') : reply.trim().split('\n', 1)[0] ?? '';
  return title.length > MAX_TITLE ? `${title.slice(0, MAX_TITLE)}…` : title;
}

function asEdit({ path, line, removed, inserted }: FileChange): EditSummary {
  const lines = (text: string | null, sign: string): string[] => (text ? text.replace(/\n$/, '').split('\n').map((one) => sign + one) : []);
  const [old, now] = [lines(removed, '-'), lines(inserted, '+')];
  return {
    path,
    kind: removed === null ? 'create' : inserted === null ? 'delete' : 'modify',
    diff: [`@@ -${line},${old.length} +${line},${now.length} @@`, ...old, ...now].join('\n'),
  };
}
