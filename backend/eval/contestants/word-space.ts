/** Weights by word, of length 1 together. */
export type WordVector = ReadonlyMap<string, number>;

/** Questions as TF-IDF vectors: words that few of the known questions have count most. */
export class WordSpace {
  readonly #questions: number;
  readonly #uses = new Map<string, number>();

  constructor(questions: readonly string[]) {
    this.#questions = questions.length;
    for (const question of questions) for (const word of new Set(wordsOf(question))) this.#uses.set(word,
      (this.#uses.get(word) ?? 0) + 1);
  }

  vectorOf(question: string): WordVector {
    const counts = new Map<string, number>();
    for (const word of wordsOf(question)) counts.set(word, (counts.get(word) ?? 0) + 1);
    const weights = [...counts].map(([word, count]): [string, number] => [word,
      count * Math.log((1 + this.#questions) / (1 + (this.#uses.get(word) ?? 0)))]);
    const length = Math.hypot(...weights.map(([, weight]) => weight)) || 1;
    return new Map(weights.map(([word, weight]) => [word, weight / length]));
  }
}

export function cosine(one: WordVector, other: WordVector): number {
  return [...one].reduce((sum, [word, weight]) => sum + weight * (other.get(word) ?? 0), 0);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[a-z]+/g) ?? [];
}
