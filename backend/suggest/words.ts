const WORD = /[\p{L}_$][\p{L}\p{N}_$]{1,99}/gu;

/** Words of most languages, which name nothing of a project. */
const KEYWORDS = new Set(`
  abstract and any as assert async await bool boolean break case catch char class const continue crate def default defer del do double elif else
  enum except export extends false final finally float fn for from func function global go goto if impl implements import in instanceof int
  interface is lambda let long match mod module mut namespace new nil none not null number of or package pass private protected pub public
  raise range readonly ref return self short static str string struct super switch this throw throws trait true try type typeof undefined union
  unsafe use using var void where while with yield None True False Self
`.trim().split(/\s+/));

/** The names in a text, in their order, without keywords. */
export function wordsIn(text: string): string[] {
  return (text.match(WORD) ?? []).filter((word) => !KEYWORDS.has(word));
}
