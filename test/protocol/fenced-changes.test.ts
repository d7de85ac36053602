import { expect, it } from 'vitest';
import { withFencedChanges, withoutChanges } from '../../backend/protocol/fenced-changes.ts';

it('fences a change of any length', () => {
  const diff = `--- a/x\n+++ b/x\n@@ -1 +1 @@\n${'+x\n'.repeat(500_000)}`;
  expect(withFencedChanges(diff)).toBe(`\n\`\`\`\n${diff.trimEnd()}\n\`\`\`\n\n`);
});

it('finds many changes without looking for the end of each from the beginning of the text', () => {
  const block = '<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n';
  expect(withoutChanges(`Before.\n${block.repeat(200_000)}After.`)).toBe('Before.\nAfter.');
});
