/** Markup that may go into a page as it is. Made by `html` and by code that writes markup without text of others. */
export class Markup {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

export type Part = Markup | string | number | undefined | readonly Part[];

/** A template of markup. What is put in is escaped, for content and for quoted attributes, unless it is markup itself. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(strings.map((text, index) => text + sourceOf(parts[index])).join(''));
}

function sourceOf(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Markup) return part.source;
  if (typeof part === 'object') return part.map(sourceOf).join('');
  return escapeHtml(String(part));
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\0', '\u{FFFD}');
