/* What a provider said of a failure, within the sentence about it. */

/** Follows what happened; nothing where nothing was said. What the provider quoted stands in single quotes, so that the first double one ends its words. */
export function providerWords(said: string | undefined): string {
  return said ? ` (it said: "${said.replaceAll('"', '\'')}")` : '';
}

const WORDS = / \(it said: "([^"]*)"\)/g;

/** The sentence with other words in place of what a provider said, where that matches. */
export function withoutProviderWords(sentence: string, matches: RegExp, instead: string): string {
  return sentence.replace(WORDS, (all, said: string) => (matches.test(said) ? instead : all));
}
