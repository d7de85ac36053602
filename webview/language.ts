/** BCP 47 tag for formatting numbers, dates and lists: the window's language, with British English for English. */
export function language(): string {
  const { lang } = document.documentElement;
  return lang === '' || lang === 'en' ? 'en-GB' : lang;
}

/** `12,345` */
export function formatCount(count: number): string {
  return count.toLocaleString(language());
}

/** `1`, `1 and 2`, `1, 2 and 3`. */
export function list(items: readonly (string | number)[]): string {
  return new Intl.ListFormat(language()).format(items.map(String));
}
