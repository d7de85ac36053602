import type { JSX } from 'preact';
import type { PanelState, PoolSummary, ShownView, ViewOf } from '../backend/protocol/panel-messages.ts';

/** What the panel needs to know of one kind of view. */
export interface ViewDefinition<Kind extends ShownView['kind']> {
  /** Id of what the view shows, if it shows one thing: focus and announcements start anew when it changes. */
  readonly subject: (view: ViewOf<Kind>) => string | undefined;
  readonly header: (view: ViewOf<Kind>, pool: PoolSummary | undefined) => HeaderFacts;
  /** What a screen reader announces when the same subject changes; empty for nothing. */
  readonly news: (before: ViewOf<Kind>, after: ViewOf<Kind>) => string;
  readonly Content: (props: { readonly view: ViewOf<Kind>; readonly state: PanelState }) => JSX.Element;
}

export interface HeaderFacts {
  /** Id of the Conductor. */
  readonly conductor: string | undefined;
  readonly model?: string | undefined;
  /** A sentence that says which results are only simulated, if any are. */
  readonly simulated?: string | undefined;
  /** Whether the view has a graph, which an editor's tab has more room for. */
  readonly hasGraph?: boolean;
}
