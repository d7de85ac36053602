/**
 * A sentence as a notification shows it: as text. VS Code makes links of `[label](address)` in notifications, addresses that run
 * its commands among them, and a sentence of ours may quote what a model or a server wrote.
 */
export function plainMessage(sentence: string): string {
  return sentence.replaceAll('](', '] (');
}
