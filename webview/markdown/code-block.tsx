import * as l10n from '@vscode/l10n';
import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import { ToolButton } from '../controls.tsx';
import { useHost } from '../host.ts';
import { Capped } from './capped.tsx';

/** Code with buttons to copy and insert it. These use the code itself; the display makes hidden characters visible. */
export const CodeBlock = memo(function CodeBlock({ code, language }: {
  readonly code: string;
  readonly language: string;
}): JSX.Element {
  const host = useHost();
  return (
    <div class="code-block">
      <div class="code-tools">
        <span class="quiet">{language}</span>
        <ToolButton icon="insert" label={l10n.t('Insert at the cursor')} onClick={() => host.post({ type: 'insert', text: code })} />
        <ToolButton icon="copy" label={l10n.t('Copy the code')} onClick={() => host.post({ type: 'copy', text: code })} />
      </div>
      <pre tabIndex={0} role="group" aria-label={language ? l10n.t('Code, {0}', language) : l10n.t('Code')} dir="ltr">
        <code><Capped text={code} /></code>
      </pre>
    </div>
  );
});
