/** At most so many characters of a text; where some are left out, the last one says so. */
export function clip(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
