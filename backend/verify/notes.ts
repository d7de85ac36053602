/** What is told of a verification besides its verdict: each sentence once. */
export class Notes {
  readonly texts: string[] = [];

  add(text: string): void {
    if (!this.texts.includes(text)) this.texts.push(text);
  }
}
