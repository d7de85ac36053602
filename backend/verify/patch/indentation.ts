/** How a text indents one level: a tab, or a number of spaces. */
export function indentUnit(lines: readonly string[]): string {
  let tabs = 0;
  const steps = new Map<number, number>();
  let last = 0;
  for (const line of lines) {
    if (line.trim() === '') continue;
    if (line.startsWith('\t')) tabs += 1;
    const width = /^ */.exec(line)?.[0].length ?? 0;
    const step = width - last;
    if (step > 0) steps.set(step, (steps.get(step) ?? 0) + 1);
    last = width;
  }
  const total = [...steps.values()].reduce((sum, count) => sum + count, 0);
  if (tabs > 0 && tabs >= total) return '\t';
  const [usual] = [...steps].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0] ?? [4];
  return ' '.repeat(Math.min(usual, 8));
}

export const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? '';

/** The indentation that all lines with text share. */
export function commonIndent(lines: readonly string[]): string {
  const indents = lines.filter((line) => line.trim() !== '').map(indentOf);
  let common = indents[0] ?? '';
  for (const indent of indents) {
    while (!indent.startsWith(common)) common = common.slice(0, -1);
  }
  return common;
}

export function dedented(text: string): string {
  const lines = text.split('\n');
  const cut = commonIndent(lines).length;
  return cut === 0 ? text : lines.map((line) => line.slice(Math.min(cut, indentOf(line).length))).join('\n');
}

/** Its width in columns; a tab is as wide as `unit`. */
export const widthOf = (indent: string, unit: string): number =>
  [...indent].reduce((width, sign) => width + (sign === '\t' ? (unit === '\t' ? 4 : unit.length) : 1), 0);

interface Style {
  /** How one level is indented. */
  readonly unit: string;
}

/** An indentation in another style: whole levels in its unit, what is left as spaces. */
export function restyled(indent: string, from: Style, to: Style): string {
  if (from.unit === to.unit) return indent;
  const level = from.unit === '\t' ? 4 : from.unit.length;
  const width = widthOf(indent, from.unit);
  return to.unit.repeat(Math.floor(width / level)) + ' '.repeat(width % level);
}

export const isTabs = ({ unit }: Style): boolean => unit === '\t';

/**
 * The lines of a definition moved to the indentation that it has in the file, and in the file's tabs or spaces. `original` are its lines in
 * the file.
 */
export function indentedLike(lines: readonly string[], original: readonly string[], styles: { readonly from: string; readonly to: string }): string[] {
  const from = { unit: styles.from };
  const target = indentOf(original[0] ?? '');
  // Other widths of spaces are left as they are where code is aligned.
  const isEven = lines.every((line) => line.trim() === '' || widthOf(indentOf(line), from.unit) % from.unit.length === 0);
  const to = { unit: isTabs(from) !== isTabs({ unit: styles.to }) || isEven ? styles.to : styles.from };
  const styled = lines.map((line) => (line.trim() === '' ? line.trim() : restyled(indentOf(line), from, to) + line.trimStart()));
  const own = indentOf(styled[0] ?? '');
  if (own === target) return styled;
  // The first line lost its indentation where it was copied; the others are where they belong.
  const rest = commonIndent(styled.slice(1));
  if (styled.length > 1 && rest.length > 0 && rest === commonIndent(original.slice(1)) && !rest.startsWith(own + rest))
    return [target + (styled[0] ?? '').trimStart(), ...styled.slice(1)];
  return styled.map((line) => {
    if (line === '') return line;
    const indent = indentOf(line);
    return (indent.startsWith(own) ? target + indent.slice(own.length) : target) + line.trimStart();
  });
}

/** A text with the tabs or spaces of a file, where it has the others. */
export function inTabsOrSpacesOf(file: string, text: string): string {
  const [from, to] = [text, file].map((whole) => ({ unit: indentUnit(whole.split('\n')) })) as [Style, Style];
  if (!/^[ \t]/m.test(file) || isTabs(from) === isTabs(to)) return text;
  return text.split('\n').map((line) => restyled(indentOf(line), from, to) + line.trimStart()).join('\n');
}
