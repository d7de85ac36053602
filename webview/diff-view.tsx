import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { EditSummary } from '../backend/protocol/run-events.ts';
import { FileLink } from './context-view.tsx';
import { visibleText } from './markdown/visible-text.ts';
import { parseDiff, type DiffLine } from './parse-diff.ts';

const MAX_LINES = 300;
const MAX_LINE_CHARACTERS = 2_000;

const SIGN: Readonly<Record<DiffLine['kind'], string>> = { added: '+', removed: '-', same: ' ', hunk: '' };
const KIND_WORD: Readonly<Record<EditSummary['kind'], string>> = { create: 'new file', modify: '', delete: 'deleted' };

/** What the answer changes in one file. The sign stands on every line: colour only repeats it. */
export const DiffView = memo(function DiffView({ edit }: { readonly edit: EditSummary }): JSX.Element {
  const diff = useMemo(() => parseDiff(edit.diff), [edit.diff]);
  const [all, setAll] = useState(false);
  const lines = all ? diff.lines : diff.lines.slice(0, MAX_LINES);
  return (
    <div class="diff">
      <div class="row diff-head">
        {edit.kind === 'create' ? <bdi class="path">{visibleText(edit.path)}</bdi> : <FileLink path={edit.path} />}
        <span class="quiet">{KIND_WORD[edit.kind]}</span>
        <span class="figures"><span class="tone-good">+{diff.added}</span> <span class="tone-bad">−{diff.removed}</span></span>
      </div>
      <pre tabIndex={0} role="group" aria-label={`Changes in ${edit.path}`} dir="ltr">
        <code>
          {lines.map((line, index) => (
            <span key={index} class={`diff-line diff-${line.kind}`}>{SIGN[line.kind]}{visibleText(clip(line.text))}{'\n'}</span>
          ))}
        </code>
      </pre>
      {lines.length < diff.lines.length && (
        <button type="button" class="show-all" onClick={() => setAll(true)}>
          Show all {diff.lines.length.toLocaleString('en')} lines
        </button>
      )}
    </div>
  );
});

function clip(line: string): string {
  return line.length > MAX_LINE_CHARACTERS ? `${line.slice(0, MAX_LINE_CHARACTERS)} … (${line.length} characters)` : line;
}
