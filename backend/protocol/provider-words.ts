/* What a provider said of a failure, within the sentence about it. */

/** Follows what happened; nothing where nothing was said. */
export function providerWords(said: string | undefined): string {
  return said ? ` (it said: "${said}")` : '';
}

/** What the provider said ends before the sentence goes on, or with it. */
const WORDS = / \(it said: "(.*?)"\)(?=[;,.]|$)/gs;

/** The sentence with other words in place of what a provider said, where that matches. */
export function withoutProviderWords(sentence: string, matches: RegExp, instead: string): string {
  return sentence.replace(WORDS, (all, said: string) => (matches.test(said) ? instead : all));
}
