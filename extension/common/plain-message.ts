/**
 * Escapes a message so that a notification shows it as plain text. VS Code turns `[label](address)` into links, including links that run
 * commands, and a message may quote a model or a server.
 */
export function plainMessage(sentence: string): string {
  return sentence.replaceAll('](', '] (');
}

/** Escapes a label so that a list shows it as plain text. VS Code replaces `$(name)` by an icon, and shell commands may contain `$(…)`. */
export function plainLabel(text: string): string {
  return text.replace(/\$\((?=[\w~-]+\))/g, '\\$(');
}
