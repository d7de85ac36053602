import type { ComponentChildren, JSX } from 'preact';
import { Icon } from './controls.tsx';
import { useExpanded } from './host.ts';

/** A collapsible section that remembers whether it is open. Its content is rendered only while it is open. */
export function Disclosure({ id, title, aside, initially = false, children }: {
  readonly id: string;
  readonly title: ComponentChildren;
  readonly aside?: ComponentChildren;
  readonly initially?: boolean;
  readonly children: ComponentChildren;
}): JSX.Element {
  const [open, setOpen] = useExpanded(id, initially);
  return (
    <div class="disclosure">
      <button type="button" class="disclosure-title" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? 'chevron-down' : 'chevron-right'} />
        <span>{title}</span>
        {aside && <span class="figures">{aside}</span>}
      </button>
      {open && <div class="disclosure-body">{children}</div>}
    </div>
  );
}
