import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { formatCount } from '../language.ts';
import { head, visibleText } from './visible-text.ts';

/** Characters that are rendered before the user asks for the rest: about ten screens, rendered quickly. */
export const SHOWN_CHARACTERS = 20_000;

/** Plain text. A long text is truncated until "Show all". */
export function Capped({ text }: { readonly text: string }): JSX.Element {
  const [all, setAll] = useState(false);
  if (all || text.length <= SHOWN_CHARACTERS) return <>{visibleText(text)}</>;
  return (
    <>
      {visibleText(head(text, SHOWN_CHARACTERS))}
      <ShowAll characters={text.length} onClick={() => setAll(true)} />
    </>
  );
}

export function ShowAll({ characters, onClick }: { readonly characters: number; readonly onClick: () => void }): JSX.Element {
  return (
    <button type="button" class="show-all" onClick={onClick}>
      {l10n.t('Show all {0} characters', formatCount(characters))}
    </button>
  );
}
