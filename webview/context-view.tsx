import * as l10n from '@vscode/l10n';
import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import type { ContextPiece } from '../backend/protocol/run-events.ts';
import { Disclosure } from './disclosure.tsx';
import { formatTokens } from '../backend/protocol/figures.ts';
import { useHost } from './host.ts';
import { Capped } from './markdown/capped.tsx';
import { visibleText } from './markdown/visible-text.ts';

export interface SentContext {
  readonly pieces: readonly ContextPiece[];
  readonly leftOut: readonly { path: string; reason: string }[];
  readonly tokens: number;
  readonly text: string;
}

const MAX_CHIPS = 4;

/** The context of a question: chips as a summary, details in a disclosure. `id` distinguishes the disclosures of different questions. */
export const ContextView = memo(function ContextView({ context, id }: {
  readonly context: SentContext;
  readonly id: string;
}): JSX.Element {
  const { pieces, leftOut, tokens, text } = context;
  if (pieces.length === 0 && leftOut.length === 0) return <p class="quiet">{l10n.t('Sent without any file of the workspace.')}</p>;
  return (
    <div class="context">
      <ul class="chips" aria-label={l10n.t('Files sent with the question')}>
        {pieces.slice(0, MAX_CHIPS).map((piece) => <li key={keyOf(piece)}><Chip piece={piece} /></li>)}
      </ul>
      <Disclosure
        id={`${id}/context`}
        title={sentTitle(pieces.length, leftOut.length)}
        aside={l10n.t('{0} tokens', formatTokens(tokens))}
      >
        <ul class="pieces">
          {pieces.map((piece) => (
            <li key={keyOf(piece)}>
              <FileLink path={piece.path} startLine={piece.startLine} endLine={piece.endLine} />
              <span class="figures">{formatTokens(piece.tokens)}</span>
              <span class="quiet reason">{piece.reason}</span>
            </li>
          ))}
        </ul>
        {leftOut.length > 0 && (
          <>
            <p class="label">{l10n.t('Left out')}</p>
            <ul class="pieces">
              {leftOut.map(({ path, reason }) => (
                <li key={`${path} ${reason}`}>
                  <bdi class="path">{visibleText(path)}</bdi><span class="quiet reason">{reason}</span>
                </li>
              ))}
            </ul>
          </>
        )}
        {text !== '' && (
          <Disclosure id={`${id}/context-text`} title={l10n.t('The exact text sent')}>
            <pre tabIndex={0} role="group" aria-label={l10n.t('The exact text sent')} dir="ltr"><Capped text={text} /></pre>
          </Disclosure>
        )}
      </Disclosure>
    </div>
  );
});

function sentTitle(pieces: number, leftOut: number): string {
  if (leftOut === 0) return pieces === 1 ? l10n.t('Sent: 1 piece') : l10n.t('Sent: {0} pieces', pieces);
  return pieces === 1 ? l10n.t('Sent: 1 piece, {0} left out', leftOut) : l10n.t('Sent: {0} pieces, {1} left out', pieces, leftOut);
}

function Chip({ piece }: { readonly piece: ContextPiece }): JSX.Element {
  const host = useHost();
  const { path, startLine, reason } = piece;
  return (
    <button
      type="button" class="chip" title={l10n.t('Open {0}', `${path}:${startLine}`)}
      onClick={() => host.post({ type: 'openFile', path, line: startLine })}
    >
      <bdi class="chip-name">{visibleText(path.split('/').at(-1) ?? path)}</bdi><span class="chip-reason">{reason}</span>
    </button>
  );
}

/** A path that opens its file in the editor. */
export function FileLink({ path, startLine, endLine }: {
  readonly path: string;
  readonly startLine?: number;
  readonly endLine?: number;
}): JSX.Element {
  const host = useHost();
  const until = startLine !== undefined && endLine !== undefined && endLine > startLine ? `–${endLine}` : '';
  const lines = startLine === undefined ? '' : `:${startLine}${until}`;
  return (
    <button
      type="button" class="file-link"
      onClick={() => host.post({ type: 'openFile', path, ...(startLine !== undefined && { line: startLine }) })}
    >
      <bdi>{visibleText(path)}</bdi><span class="quiet">{lines}</span>
    </button>
  );
}

function keyOf({ path, startLine, endLine }: ContextPiece): string {
  return `${path}:${startLine}-${endLine}`;
}
