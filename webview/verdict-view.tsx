import * as l10n from '@vscode/l10n';
import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { formatDuration } from '../backend/protocol/figures.ts';
import { readingOf } from '../backend/protocol/test-runners.ts';
import { toolText } from '../backend/protocol/tool-text.ts';
import type { Verdict } from '../backend/protocol/verdict.ts';
import { isVerified } from '../backend/protocol/verdict-facts.ts';
import { Icon } from './controls.tsx';
import { visibleText } from './markdown/visible-text.ts';
import { passesOf, verdictStage } from './run-stage.ts';
import { TestList } from './test-list.tsx';
import { TestTable } from './test-table.tsx';
import { VerdictReason } from './verdict-reason.tsx';
import { countOf, verdictRows } from './verdict-rows.ts';

/** The project's test results before and after the change. */
export const VerdictView = memo(function VerdictView({ verdict, id, isOffered, isOwn = false }: {
  readonly verdict: Verdict;
  readonly id: string;
  /** The answer that it judges is shown, with the reason beside it. */
  readonly isOffered: boolean;
  /** It judges the person's own change, not an answer. */
  readonly isOwn?: boolean;
}): JSX.Element {
  const stage = verdictStage(verdict);
  const passes = passesOf(verdict);
  const verified = isVerified(verdict);
  const { changed, kept, notRun } = useMemo(() => verdictRows(verdict.tests), [verdict.tests]);
  const keptCount = countOf(kept);
  return (
    <div class="card verdict">
      <div class="row verdict-head">
        {!passes && <Icon name={stage.icon} tone={stage.tone} />}
        <strong>{stage.text}</strong>
        {passes && (
          <span class={`tone-${stage.tone}`}>
            <Icon name={verified ? 'check' : stage.icon} /> {verified ? passes : l10n.t('{0} pass', passes)}
          </span>
        )}
        <span class="figures">
          {/* Tests that were not allowed to run took no time. */}
          {verdict.durationMs > 0
            ? <><TestRunFigures {...verdict} /> · {verdict.tools?.map((tool) => `${visibleText(toolText(tool))} · `)}{formatDuration(verdict.durationMs)}</>
            : <TestCommand {...verdict} />}
        </span>
      </div>
      {!isOffered && <VerdictReason verdict={verdict} />}
      {verdict.outcome === 'infrastructure' && <p class="note">{isOwn ? l10n.t('This says nothing about your changes: they are neither right nor wrong.') : l10n.t('This says nothing about the answer: it is neither right nor wrong.')}</p>}
      {verdict.notes.length > 0 && (
        <ul class="verdict-notes" aria-label={l10n.t('Notes')}>
          {verdict.notes.map((note, index) => <li key={index} dir="auto"><Icon name="info" /><span>{visibleText(note)}</span></li>)}
        </ul>
      )}
      {changed.length > 0 && <TestTable groups={changed} id={id} />}
      {keptCount > 0 && (
        <TestList id={`${id}/kept`} groups={kept} title={keptTitle(keptCount, changed.length > 0)} />
      )}
      {notRun.length > 0 && <TestList id={`${id}/not-run`} groups={notRun} title={l10n.t('{0} did not run', countOf(notRun))} />}
    </div>
  );
});

function keptTitle(count: number, besideOthers: boolean): string {
  if (!besideOthers) return l10n.t('All {0} passed before and after', count);
  return count === 1 ? l10n.t('1 other passed before and after') : l10n.t('{0} others passed before and after', count);
}

/** The test command and the runner that parses its results. */
function TestCommand({ command, runner }: Pick<Verdict, 'command' | 'runner'>): JSX.Element {
  return <>{command !== '' && <code>{visibleText(command)}</code>}{runner !== undefined && ` · ${visibleText(readingOf(runner))}`}</>;
}

/** The test command, and whether it runs in the sandbox. */
export function TestRunFigures({ sandboxed, ...test }: Pick<Verdict, 'command' | 'runner' | 'sandboxed'>): JSX.Element {
  return (
    <>
      <TestCommand {...test} /> ·{' '}
      {sandboxed ? l10n.t('in the sandbox') : <span class="tone-caution"><Icon name="warning" /> {l10n.t('without a sandbox')}</span>}
    </>
  );
}
