import type { ShownView } from '../backend/protocol/panel-messages.ts';
import { QUESTION_VIEW } from './ask-view.tsx';
import { RUN_VIEW } from './run-view.tsx';
import { TRAINING_VIEW } from './training/training-view.tsx';
import { VERIFICATION_VIEW } from './verification-view.tsx';
import type { ViewDefinition } from './view-definition.ts';

const VIEWS: { readonly [Kind in ShownView['kind']]: ViewDefinition<Kind> } = {
  question: QUESTION_VIEW,
  run: RUN_VIEW,
  training: TRAINING_VIEW,
  verification: VERIFICATION_VIEW,
};

/** Returns the definition of the view's kind. */
export function definitionOf<Kind extends ShownView['kind']>({ kind }: { readonly kind: Kind }): ViewDefinition<Kind> {
  return VIEWS[kind];
}
