/** More backticks in a row than the text contains, and at least so many: a fence or quotation that the text cannot end. */
export function backticks(text: string, atLeast: number): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0);
  return '`'.repeat(Math.max(atLeast, longest + 1));
}
