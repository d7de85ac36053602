import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import type { FileChange } from '../../backend/protocol/file-change.ts';
import type { EditSummary } from '../../backend/protocol/run-events.ts';
import type { StepView, TurnView } from '../../backend/protocol/run-snapshot.ts';
import { turnText } from '../../backend/protocol/turn-text.ts';
import { DiffView } from '../diff-view.tsx';
import { Disclosure } from '../disclosure.tsx';
import { Capped } from '../markdown/capped.tsx';
import { visibleText } from '../markdown/visible-text.ts';

const MAX_TITLE = 60;

/** What a worker did before its output, turn by turn as they come: what it wrote, what it changed, and what it was given. */
export function StepTurns({ step, id }: { readonly step: StepView; readonly id: string }): JSX.Element | null {
  const { turns = [] } = step;
  if (turns.length === 0) return null;
  return (
    <div class="details">
      <h5 class="label">{l10n.t('Turns')}</h5>
      {turns.map((turn, index) => (
        <Disclosure key={index} id={`${id}/step-${step.index}/turn-${index}`} title={`${index + 1} · ${visibleText(titleOf(turn))}`}>
          <Turn turn={turn} />
        </Disclosure>
      ))}
    </div>
  );
}

function Turn({ turn: { reply, calls = [], changes = [], observation } }: { readonly turn: TurnView }): JSX.Element {
  return (
    <>
      <pre tabIndex={0} role="group" aria-label={l10n.t('What it wrote')} dir="auto"><Capped text={turnText(reply, calls)} /></pre>
      {changes.filter(({ removed, inserted }) => removed !== inserted).map((change) => <DiffView key={change.path} edit={asEdit(change)} />)}
      {observation !== undefined && <pre tabIndex={0} role="group" aria-label={l10n.t('What it was given')} dir="auto"><Capped text={observation} /></pre>}
    </>
  );
}

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
