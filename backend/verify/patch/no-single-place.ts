/** A block has no single place in its file. The message is the end of a sentence. */
export class NoSinglePlace extends Error {
  override readonly name = 'NoSinglePlace';
}
