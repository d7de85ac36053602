import * as l10n from '@vscode/l10n';
import { Fragment, type JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { TestStatus } from '../backend/protocol/verdict.ts';
import { Icon } from './controls.tsx';
import { useExpanded } from './host.ts';
import { formatCount } from './language.ts';
import { Capped } from './markdown/capped.tsx';
import { visibleText } from './markdown/visible-text.ts';
import { countOf, firstRows, statusWord, type TestGroup, type TestRow } from './verdict-rows.ts';

const MAX_ROWS = 30;

/** Tests before and after the change, one line each, grouped by file. `id` is unique on the page. */
export function TestTable({ groups, id }: { readonly groups: readonly TestGroup[]; readonly id: string }): JSX.Element {
  const [all, setAll] = useState(false);
  const count = countOf(groups);
  const shown = all ? groups : firstRows(groups, MAX_ROWS);
  // A single place appears once, in the table head.
  const [only, ...others] = groups;
  const common = only && others.length === 0 ? placeOf(only) : '';
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col" title={common || undefined}>{common ? <bdi>{common}</bdi> : l10n.t('Test')}</th>
            <th scope="col">{l10n.t('Before')}</th>
            <th scope="col">{l10n.t('After')}</th>
          </tr>
        </thead>
        {shown.map((group, index) => (
          <tbody key={index}>
            {others.length > 0 && group.place.length > 0 && (
              <tr class="test-place"><th scope="rowgroup" colSpan={3}><bdi>{placeOf(group)}</bdi></th></tr>
            )}
            {group.rows.map((row) => <Row key={row.test.id} row={row} id={id} />)}
          </tbody>
        ))}
      </table>
      {countOf(shown) < count && (
        <button type="button" class="show-all" onClick={() => setAll(true)}>{l10n.t('Show all {0} tests', formatCount(count))}</button>
      )}
    </>
  );
}

/** The file and the suites, for display. */
export function placeOf({ place }: TestGroup): string {
  return visibleText(place.join(' › '));
}

function Row({ row, id }: { readonly row: TestRow; readonly id: string }): JSX.Element {
  const { test, kind } = row;
  const [open, setOpen] = useExpanded(`${id}/test/${test.id}`);
  const name = <Name row={row} />;
  return (
    <Fragment>
      <tr data-kind={kind}>
        <td>
          {test.message
            ? (
              <button type="button" class="disclosure-title" aria-expanded={open} onClick={() => setOpen(!open)}>
                <Icon name={open ? 'chevron-down' : 'chevron-right'} />{name}
              </button>
            )
            : name}
        </td>
        <td><Status status={test.before} /></td>
        <td><Status status={test.after} /></td>
      </tr>
      {open && test.message && (
        <tr>
          <td colSpan={3}>
            <pre tabIndex={0} role="group" aria-label={l10n.t('What the test said')} dir="ltr"><Capped text={test.message} /></pre>
          </td>
        </tr>
      )}
    </Fragment>
  );
}

function Name({ row: { name, suites, kind } }: { readonly row: TestRow }): JSX.Element {
  return (
    <span class="test-name">
      {suites.length > 0 && <bdi class="quiet">{visibleText(`${suites.join(' › ')} › `)}</bdi>}
      <bdi>{visibleText(name)}</bdi>
      {kind === 'broken' && <span class="tone-bad"> {l10n.t('broken by this answer')}</span>}
      {kind === 'left-out' && <span class="quiet"> {l10n.t('failed before, left out')}</span>}
      {kind === 'flaky' && <span class="tone-caution"> {l10n.t('flaky, left out')}</span>}
    </span>
  );
}

function Status({ status }: { readonly status: TestStatus }): JSX.Element {
  const tone = status === 'passed' ? 'good' : status === 'failed' ? 'bad' : 'quiet';
  return <span class={`tone-${tone}`}>{statusWord(status)}</span>;
}
