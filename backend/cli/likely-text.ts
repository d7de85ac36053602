import type { LikelyCommand } from '../protocol/test-command.ts';

/** What may run the tests, to choose from. @param option that names a command */
export function likelyText(likely: readonly LikelyCommand[], option = '--command'): string {
  if (likely.length === 0) return '';
  const commands = likely.map(({ command, from }) => `"${command}" (${from})`).join(' or ');
  return ` The tests may be run by ${commands}: name it with ${option}, and the JUnit files that it writes, if it does, with --reports.`;
}
