import { writtenNumber } from './rational.ts';

/** The structure of a result. Leaves are LaTeX in normal form. */
export type MathValue =
  | { readonly kind: 'leaf'; readonly latex: string }
  /** `(…)`, `[…]`, `(…]` or `[…)`: a point, a vector or an interval. The order and the brackets matter. */
  | { readonly kind: 'tuple'; readonly brackets: string; readonly items: readonly MathValue[] }
  /** `{…}`, or several results in a row. The order does not matter. */
  | { readonly kind: 'set'; readonly items: readonly MathValue[] }
  | { readonly kind: 'union'; readonly items: readonly MathValue[] }
  | { readonly kind: 'matrix'; readonly rows: readonly (readonly MathValue[])[] }
  /** `a < b \leq c`, with one sign fewer than sides. */
  | { readonly kind: 'relation'; readonly signs: readonly string[]; readonly sides: readonly string[] };

const MAX_ITEMS = 50;
const MAX_DEPTH = 8;

/** Parses the structure of LaTeX in normal form. Text without a known structure is a leaf. */
export function mathValue(latex: string, depth = 0): MathValue {
  const text = withoutOuterBraces(latex.trim());
  const leaf: MathValue = { kind: 'leaf', latex: text };
  if (depth > MAX_DEPTH || writtenNumber(text)) return leaf;
  const inside = (part: string): MathValue => mathValue(part, depth + 1);

  const member = /^\(?[a-zA-Z](?:,\s*[a-zA-Z])*\)?\s*\\in(?![a-zA-Z])(.+)$/s.exec(text)?.[1];
  if (member !== undefined) return inside(member);
  const rows = matrixRows(text);
  if (rows) return { kind: 'matrix', rows: rows.map((row) => row.map(inside)) };
  const parts = splitAtTop(text, [',', ';']);
  if (parts.length > 1 && parts.length <= MAX_ITEMS) return { kind: 'set', items: parts.flatMap(expandSigns).map(inside) };
  const joined = splitAtTop(text, ['\\cup']);
  if (joined.length > 1 && joined.length <= MAX_ITEMS) return { kind: 'union', items: joined.map(inside) };
  const relation = asRelation(text);
  if (relation) return relation;
  const bracketed = /^(\\\{|[([])(.*?)(\\\}|[)\]])$/s.exec(text);
  if (bracketed && closesAtEnd(text)) {
    const [, open = '', content = '', close = ''] = bracketed;
    const items = splitAtTop(content, [',']);
    if (open === '\\{' && close === '\\}') {
      const values = content.trim() === '' ? [] : items.flatMap(expandSigns);
      return values.length > MAX_ITEMS ? leaf : { kind: 'set', items: values.map(inside) };
    }
    if (items.length > 1 && items.length <= MAX_ITEMS) return { kind: 'tuple', brackets: open + close, items: items.map(inside) };
    if (open === '(' && close === ')') return inside(content);
  }
  const expanded = expandSigns(text);
  return expanded.length > 1 ? { kind: 'set', items: expanded.map(inside) } : leaf;
}

/** `1 \pm \sqrt{2}` stands for two results: one with all upper signs and one with all lower signs. */
function expandSigns(latex: string): string[] {
  if (!/\\(?:pm|mp)(?![a-zA-Z])/.test(latex)) return [latex];
  const choose = (plus: string, minus: string): string =>
    latex.replaceAll(/\\pm(?![a-zA-Z])/g, plus).replaceAll(/\\mp(?![a-zA-Z])/g, minus);
  return [choose('+', '-'), choose('-', '+')];
}

const SIGN = /\\(?:leq|geq|neq|approx|equiv)(?![a-zA-Z])|[=<>]/y;

function asRelation(text: string): MathValue | undefined {
  const signs: string[] = [];
  const sides: string[] = [];
  let from = 0;
  forEachAtTop(text, (at) => {
    SIGN.lastIndex = at;
    const sign = SIGN.exec(text)?.[0];
    if (sign === undefined) return 0;
    signs.push(sign);
    sides.push(text.slice(from, at).trim());
    from = at + sign.length;
    return sign.length;
  });
  if (signs.length === 0 || signs.length > 5) return undefined;
  sides.push(text.slice(from).trim());
  return { kind: 'relation', signs, sides };
}

function matrixRows(text: string): string[][] | undefined {
  const content = /^[([]?\s*\\begin\{matrix\}(.*)\\end\{matrix\}\s*[)\]]?$/s.exec(text)?.[1];
  if (content === undefined || content.includes('\\begin')) return undefined;
  const rows = content
    .replace(/\\\\\s*$/, '')
    .split('\\\\')
    .map((row) => row.split('&').map((cell) => cell.trim()));
  return rows.length * (rows[0]?.length ?? 0) <= MAX_ITEMS * 2 ? rows : undefined;
}

/** Splits at separators outside all brackets. */
function splitAtTop(text: string, separators: readonly string[]): string[] {
  const parts: string[] = [];
  let from = 0;
  forEachAtTop(text, (at) => {
    const separator = separators.find((candidate) => text.startsWith(candidate, at));
    if (separator === undefined) return 0;
    parts.push(text.slice(from, at).trim());
    from = at + separator.length;
    return separator.length;
  });
  return [...parts, text.slice(from).trim()];
}

/** Calls `visit` at every position outside brackets. It returns the number of consumed characters. */
function forEachAtTop(text: string, visit: (at: number) => number): void {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const step = bracketStep(text, at);
    depth = Math.max(0, depth + step);
    if (depth === 0 && step === 0) {
      const used = visit(at);
      if (used > 0) {
        at += used - 1;
        continue;
      }
    }
    if (text[at] === '\\') at += 1;
  }
}

/** All kinds of brackets count alike, because an interval may open and close with different ones. */
function bracketStep(text: string, at: number): -1 | 0 | 1 {
  const character = text[at] === '\\' ? (text[at + 1] ?? '') : (text[at] ?? '');
  if (text[at] === '\\' && character !== '{' && character !== '}') return 0;
  if (character === '') return 0;
  if ('([{'.includes(character)) return 1;
  return ')]}'.includes(character) ? -1 : 0;
}

/** Whether the last character closes the bracket at the start. */
function closesAtEnd(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    depth += bracketStep(text, at);
    if (text[at] === '\\') at += 1;
    if (depth === 0) return at === text.length - 1;
  }
  return false;
}

function withoutOuterBraces(text: string): string {
  let inner = text;
  while (inner.startsWith('{') && inner.endsWith('}') && closesAtEnd(inner)) inner = inner.slice(1, -1).trim();
  return inner;
}
