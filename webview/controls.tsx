import { h, type ComponentChildren, type JSX } from 'preact';

/*
 * The page's controls as components with typed properties. Other modules use these, never the elements of the toolkit.
 */

interface ButtonProps {
  readonly onClick: () => void;
  readonly children: ComponentChildren;
  readonly appearance?: 'primary' | 'secondary';
  readonly icon?: IconName;
  readonly disabled?: boolean;
  readonly label?: string;
}

export function Button({ onClick, children, appearance = 'secondary', icon, disabled = false, label }: ButtonProps): JSX.Element {
  return h(
    'vscode-button',
    {
      appearance, disabled, onClick: disabled ? undefined : onClick, ...(label && { 'aria-label': label }),
    } as JSX.HTMLAttributes,
    icon && <i slot="start" class={`codicon codicon-${icon}`} aria-hidden="true" />,
    children,
  );
}

/** A small button without a border, for tools in a line of text. Plain HTML, so that it fits in the line. */
export function ToolButton({ onClick, icon, label, text, expanded }: {
  readonly onClick: () => void;
  readonly icon: IconName;
  /** The accessible name; begins with `text` if there is one. */
  readonly label: string;
  readonly text?: string;
  readonly expanded?: boolean;
}): JSX.Element {
  return (
    <button type="button" class="tool" onClick={onClick} aria-label={label} title={label} aria-expanded={expanded}>
      <Icon name={icon} />{text}
    </button>
  );
}

interface TextAreaProps {
  readonly label: string;
  readonly value: string;
  readonly placeholder: string;
  readonly rows: number;
  readonly onInput: (value: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

export function TextArea({ label, value, placeholder, rows, onInput, onKeyDown }: TextAreaProps): JSX.Element {
  return h(
    'vscode-text-area',
    {
      value, placeholder, rows, resize: 'vertical', onKeyDown, class: 'question-input',
      onInput: (event: Event) => onInput((event.target as HTMLTextAreaElement).value),
    } as JSX.HTMLAttributes,
    label,
  );
}

/**
 * A short label with a border, such as "simulated". Plain HTML, like `Count` below: the toolkit's tag and badge templates contain a style
 * attribute, which the page's security policy forbids.
 */
export function Tag({ children, title }: { readonly children: string; readonly title?: string }): JSX.Element {
  return <span class="tag" title={title}>{children}</span>;
}

/** A number in a circle. */
export function Count({ children }: { readonly children: number }): JSX.Element {
  return <span class="count">{children}</span>;
}

export type IconName =
  | 'add' | 'arrow-left' | 'arrow-swap' | 'beaker' | 'check' | 'chevron-down' | 'chevron-right' | 'chip' | 'circle-outline' | 'circle-slash' | 'close'
  | 'cloud-download' | 'comment' | 'copy'
  | 'debug-pause' | 'debug-stop' | 'diff-multiple' | 'error' | 'file-media' | 'info' | 'insert' | 'loading' | 'mortar-board' | 'pass' | 'pass-filled' | 'refresh' | 'screen-full' | 'search' | 'shield' | 'trash' | 'warning'
  | 'watch';

/** A decorative icon: the text beside it, or `label`, says the same. */
export function Icon({ name, label, tone }: {
  readonly name: IconName;
  readonly label?: string;
  readonly tone?: Tone;
}): JSX.Element {
  const spin = name === 'loading' ? ' codicon-modifier-spin' : '';
  return (
    <>
      <i class={`codicon codicon-${name}${spin}${tone ? ` tone-${tone}` : ''}`} aria-hidden="true" />
      {label && <span class="visually-hidden">{label}</span>}
    </>
  );
}

/** Selects a colour. The text beside it says the same. */
export type Tone = 'good' | 'bad' | 'caution' | 'quiet' | 'busy';
