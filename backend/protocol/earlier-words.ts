import type { EarlierChange } from './earlier.ts';

/** What becomes of the change of the earlier answer, in one sentence. */
export function changeWords({ state, reason = '' }: EarlierChange): string {
  switch (state) {
    case 'there': return 'The project has the change of the earlier answer.';
    case 'pending': return 'The change of the earlier answer is not applied yet, so this answer has both.';
    case 'lost': return `${reason} It is shown to the workers as text.`;
  }
}
