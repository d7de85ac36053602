import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import type { Verdict } from '../backend/protocol/verdict.ts';
import { isVerified } from '../backend/protocol/verdict-facts.ts';
import { ToolButton } from './controls.tsx';
import { useHost } from './host.ts';
import { visibleText } from './markdown/visible-text.ts';

/** Why a verdict is no better, and the command that helps, if there is one. Nothing for a verified answer. */
export function VerdictReason({ verdict }: { readonly verdict: Verdict }): JSX.Element {
  const { reason, remedy } = verdict;
  const words = remedy !== undefined && reason.endsWith(remedy) ? reason.slice(0, -remedy.length).trimEnd() : reason;
  return (
    <>
      {!isVerified(verdict) && <p class="note" dir="auto">{visibleText(words)}</p>}
      {remedy !== undefined && <Remedy command={remedy} />}
    </>
  );
}

function Remedy({ command }: { readonly command: string }): JSX.Element {
  const host = useHost();
  return (
    <p class="remedy">
      <code>{visibleText(command)}</code>
      <ToolButton icon="copy" label={l10n.t('Copy the install command')} onClick={() => host.post({ type: 'copy', text: command })} />
    </p>
  );
}
