/** Shortens a text to at most this many characters, including an ellipsis at the end. */
export function clip(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
