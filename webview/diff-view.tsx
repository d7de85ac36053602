import * as l10n from '@vscode/l10n';
import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { EditSummary } from '../backend/protocol/run-events.ts';
import { FileLink } from './context-view.tsx';
import { formatCount } from './language.ts';
import { visibleText } from './markdown/visible-text.ts';
import { parseDiff, type DiffLine } from './parse-diff.ts';

const MAX_LINES = 300;
const MAX_LINE_CHARACTERS = 2_000;

const SIGN: Readonly<Record<DiffLine['kind'], string>> = { added: '+', removed: '-', same: ' ', hunk: '' };

/** The answer's changes to one file. Each line has a sign, so that colour is not the only cue. */
export const DiffView = memo(function DiffView({ edit }: { readonly edit: EditSummary }): JSX.Element {
  const diff = useMemo(() => parseDiff(edit.diff), [edit.diff]);
  const [all, setAll] = useState(false);
  const lines = all ? diff.lines : diff.lines.slice(0, MAX_LINES);
  return (
    <div class="diff">
      <div class="row diff-head">
        {edit.kind === 'create' ? <bdi class="path">{visibleText(edit.path)}</bdi> : <FileLink path={edit.path} />}
        <span class="quiet">{kindWord(edit.kind)}</span>
        <span class="figures"><span class="tone-good">+{diff.added}</span> <span class="tone-bad">−{diff.removed}</span></span>
      </div>
      <pre tabIndex={0} role="group" aria-label={l10n.t('Changes in {0}', edit.path)} dir="ltr">
        <code>
          {lines.map((line, index) => (
            <span key={index} class={`diff-line diff-${line.kind}`}>{SIGN[line.kind]}{visibleText(clip(line.text))}{'\n'}</span>
          ))}
        </code>
      </pre>
      {lines.length < diff.lines.length && (
        <button type="button" class="show-all" onClick={() => setAll(true)}>
          {l10n.t('Show all {0} lines', formatCount(diff.lines.length))}
        </button>
      )}
    </div>
  );
});

function kindWord(kind: EditSummary['kind']): string {
  switch (kind) {
    case 'create': return l10n.t('new file');
    case 'modify': return '';
    case 'delete': return l10n.t('deleted');
  }
}

function clip(line: string): string {
  if (line.length <= MAX_LINE_CHARACTERS) return line;
  return `${line.slice(0, MAX_LINE_CHARACTERS)} … (${l10n.t('{0} characters', formatCount(line.length))})`;
}
