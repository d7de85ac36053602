import type { ChangeKind } from '../../protocol/test-changes.ts';

/** What each kind of red test says of a change. */
export const RED_MEANS = {
  broken: 'The test passed before the change and does not pass with it.',
  'newly-failing': 'The test did not run before the change and fails with it.',
  'still-failing': 'The test failed before the change and does not pass with it.',
} as const satisfies Partial<Record<ChangeKind, string>>;
