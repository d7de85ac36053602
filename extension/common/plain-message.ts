/**
 * A sentence as a notification shows it: as text. VS Code makes links of `[label](address)` in notifications, addresses that run
 * its commands among them, and a sentence of ours may quote what a model or a server wrote.
 */
export function plainMessage(sentence: string): string {
  return sentence.replaceAll('](', '] (');
}

/** Text as a list shows it: as text. VS Code draws a picture for `$(name)` in labels, and a shell's command may hold such words. */
export function plainLabel(text: string): string {
  return text.replace(/\$\((?=[\w~-]+\))/g, '\\$(');
}
