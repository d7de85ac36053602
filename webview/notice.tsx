import * as l10n from '@vscode/l10n';
import type { ComponentChildren, JSX } from 'preact';
import { Icon, ToolButton, type IconName, type Tone } from './controls.tsx';

/** A one-sentence message with buttons for the next actions. */
export function Notice({ icon, tone, title, children, actions, onDismiss }: {
  readonly icon: IconName;
  readonly tone: Tone;
  readonly title?: string;
  readonly children?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly onDismiss?: () => void;
}): JSX.Element {
  return (
    <div class={`notice notice-${tone}`}>
      <Icon name={icon} tone={tone} />
      <div class="notice-body">
        {title && <strong>{title}</strong>}
        {children && <div dir="auto">{children}</div>}
        {actions && <div class="actions">{actions}</div>}
      </div>
      {onDismiss && <ToolButton icon="close" label={l10n.t('Dismiss')} onClick={onDismiss} />}
    </div>
  );
}
