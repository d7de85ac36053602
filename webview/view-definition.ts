import type { JSX } from 'preact';
import type { PanelState, PoolSummary, ShownView, ViewOf } from '../backend/protocol/panel-messages.ts';

/** The panel's interface to one kind of view. */
export interface ViewDefinition<Kind extends ShownView['kind']> {
  /** Id of the item that the view shows, if any. When it changes, focus and announcements are reset. */
  readonly subject: (view: ViewOf<Kind>) => string | undefined;
  readonly header: (view: ViewOf<Kind>, pool: PoolSummary | undefined) => HeaderFacts;
  /** The screen reader announcement for a change of the same item; may be empty. */
  readonly news: (before: ViewOf<Kind>, after: ViewOf<Kind>) => string;
  readonly Content: (props: { readonly view: ViewOf<Kind>; readonly state: PanelState }) => JSX.Element;
}

export interface HeaderFacts {
  /** Id of the Conductor. */
  readonly conductor: string | undefined;
  readonly model?: string | undefined;
  /** A sentence that says which results are simulated, if any. */
  readonly simulated?: string | undefined;
  /** Whether the view has a graph, which has more room in an editor tab. */
  readonly hasGraph?: boolean;
}
