import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import type { TestChange, TestStatus, Verdict } from '../backend/protocol/verdict.ts';
import { Icon } from './controls.tsx';
import { formatDuration } from '../backend/protocol/figures.ts';
import { useExpanded } from './host.ts';
import { Capped } from './markdown/capped.tsx';
import { visibleText } from './markdown/visible-text.ts';
import { passesOf, verdictStage } from './run-stage.ts';
import { STATUS_WORD, verdictRows, type ChangeKind } from './verdict-rows.ts';

const MAX_ROWS = 30;

/** What the project's tests said, before and after. */
export const VerdictView = memo(function VerdictView({ verdict, id }: {
  readonly verdict: Verdict;
  readonly id: string;
}): JSX.Element {
  const stage = verdictStage(verdict);
  const passes = passesOf(verdict);
  const { rows, keptPassing, neverRun } = verdictRows(verdict.tests);
  const paths = new Set(rows.map((test) => pathOf(test.id)));
  const commonPath = paths.size === 1 ? [...paths][0] : undefined;
  return (
    <div class="card verdict">
      <div class="row verdict-head">
        {!passes && <Icon name={stage.icon} tone={stage.tone} />}
        <strong>{stage.text}</strong>
        {passes && (
          <span class={`tone-${stage.tone}`}>
            <Icon name={verdict.verified ? 'check' : stage.icon} /> {passes}{verdict.verified ? '' : ' pass'}
          </span>
        )}
        <span class="figures">
          <code>{verdict.command}</code> ·{' '}
          {verdict.sandboxed ? 'sandboxed' : <span class="tone-caution"><Icon name="warning" /> not sandboxed</span>} ·{' '}
          {formatDuration(verdict.durationMs)}
        </span>
      </div>
      {!verdict.verified && <p class="note" dir="auto">{explanation(verdict)}</p>}
      {rows.length + keptPassing + neverRun > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col" title={commonPath}>{commonPath ? <bdi>{visibleText(commonPath)}</bdi> : 'Test'}</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, MAX_ROWS).map((test) => (
              <TestRow key={test.id} test={test} showPath={paths.size > 1} id={id} />
            ))}
            {rows.length > MAX_ROWS && <SummaryRow label={`${rows.length - MAX_ROWS} more changed or failing`} status="…" />}
            {keptPassing > 0 && (
              <SummaryRow label={rows.length > 0 ? `${keptPassing} others` : `All ${keptPassing}`} status="passes" />
            )}
            {neverRun > 0 && <SummaryRow label={`${neverRun} not run`} status="skipped" />}
          </tbody>
        </table>
      )}
    </div>
  );
});

/** The backend's sentence, and what it means for the answer where that is easily misread. */
function explanation({ outcome, reason }: Verdict): string {
  if (outcome === 'infrastructure') return `${reason} This says nothing about the answer: it is neither right nor wrong.`;
  return reason;
}

type Row = TestChange & { readonly kind: ChangeKind };

function TestRow({ test, showPath, id }: { readonly test: Row; readonly showPath: boolean; readonly id: string }): JSX.Element {
  const [open, setOpen] = useExpanded(`${id}/test/${test.id}`);
  const name = <TestName test={test} showPath={showPath} />;
  return (
    <>
      <tr data-kind={test.kind}>
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
            <pre tabIndex={0} role="group" aria-label="What the test said" dir="ltr"><Capped text={test.message} /></pre>
          </td>
        </tr>
      )}
    </>
  );
}

function TestName({ test, showPath }: { readonly test: Row; readonly showPath: boolean }): JSX.Element {
  const path = pathOf(test.id);
  return (
    <span class="test-name">
      <bdi>{visibleText(test.id.split(' > ').at(-1) ?? test.id)}</bdi>
      {test.kind === 'broken' && <span class="tone-bad"> broken by this answer</span>}
      {showPath && path && <bdi class="quiet test-path">{visibleText(path)}</bdi>}
    </span>
  );
}

/** Where a test stands: its file and suites, without its name. */
function pathOf(id: string): string {
  return id.split(' > ').slice(0, -1).join(' › ');
}

function Status({ status }: { readonly status: TestStatus }): JSX.Element {
  const tone = status === 'passed' ? 'good' : status === 'failed' ? 'bad' : 'quiet';
  return <span class={`tone-${tone}`}>{STATUS_WORD[status]}</span>;
}

function SummaryRow({ label, status }: { readonly label: string; readonly status: string }): JSX.Element {
  return <tr class="quiet summary"><td>{label}</td><td>{status}</td><td>{status}</td></tr>;
}
