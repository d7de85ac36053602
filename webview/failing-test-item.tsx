import type { ComponentChildren, JSX } from 'preact';
import { tellingLine } from '../backend/protocol/telling-line.ts';
import { partsOf } from '../backend/protocol/verdict-facts.ts';
import { visibleText } from './markdown/visible-text.ts';

/** An item of a list of tests that fail: its name, what stands behind it, and the line of its message that tells the most. */
export function FailingTestItem({ id, message, children }: {
  readonly id: string;
  readonly message: string | undefined;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <li>
      <bdi>{visibleText(partsOf(id).join(' › '))}</bdi>{children}
      {message !== undefined && <p class="quiet" dir="auto">{visibleText(tellingLine(message))}</p>}
    </li>
  );
}
