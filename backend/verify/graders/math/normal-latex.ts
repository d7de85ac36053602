/** Longer results are compared as text. */
export const MAX_LATEX_CHARACTERS = 1_000;

const UNICODE: Readonly<Record<string, string>> = {
  '−': '-',
  '–': '-',
  '×': '\\times ',
  '·': '\\cdot ',
  '÷': '\\div ',
  '±': '\\pm ',
  '∞': '\\infty ',
  '≤': '\\leq ',
  '≥': '\\geq ',
  '≠': '\\neq ',
  '∪': '\\cup ',
  '∩': '\\cap ',
  '∈': '\\in ',
  '√': '\\sqrt ',
  '°': '',
  '²': '^{2}',
  '³': '^{3}',
  '½': '\\frac{1}{2}',
  'π': '\\pi ',
  'θ': '\\theta ',
  'α': '\\alpha ',
  'β': '\\beta ',
  '≈': '\\approx ',
  '∅': '\\emptyset ',
  '′': "'",
};

const SYNONYMS: Readonly<Record<string, string>> = {
  dfrac: 'frac',
  tfrac: 'frac',
  cfrac: 'frac',
  le: 'leq',
  leqslant: 'leq',
  ge: 'geq',
  geqslant: 'geq',
  ne: 'neq',
  lt: '<',
  gt: '>',
  lbrace: '{',
  rbrace: '}',
  lvert: '|',
  rvert: '|',
  vert: '|',
  varnothing: 'emptyset',
  ast: 'cdot',
  to: 'rightarrow',
};

const TEXT_COMMANDS = 'text|textbf|textit|textrm|textnormal|mbox|hbox|mathrm|mathbf|mathit|operatorname';

/**
 * The normal form of LaTeX: without math delimiters, spacing and sizes, with one command for each group of synonyms, and with plain forms
 * (`sqrt(2)`, `x**2`, `pi`, `<=`) converted to LaTeX.
 */
export function normalLatex(source: string): string {
  let text = source.trim().replaceAll(/[−–×·÷±∞≤≥≠∪∩∈√°²³½πθαβ≈∅′]/g, (symbol) => UNICODE[symbol] ?? symbol);
  text = text
    .replaceAll(/\\\$|\$/g, '')
    .replaceAll(/\\[()]|\\\[|\\\](?!\S)/g, ' ')
    .replaceAll(/\\(?:left|right|bigl|bigr|Bigl|Bigr|big|Big|bigg|Bigg|displaystyle|textstyle|limits)(?![a-zA-Z])\.?/g, '')
    .replaceAll(/\\[,;:! ]|~|\\(?:quad|qquad|thinspace)(?![a-zA-Z])/g, ' ')
    .replaceAll('{,}', ',')
    .replaceAll(/\\%/g, '%')
    .replaceAll(/\^\s*\{?\s*\\(?:circ|degree)\s*\}?|\\degree(?![a-zA-Z])/g, '')
    .replaceAll(/\\([a-zA-Z]+)/g, (whole, name: string) => {
      const synonym = SYNONYMS[name];
      return synonym === undefined ? whole : `${/^[<>|]$/.test(synonym) ? '' : '\\'}${synonym} `;
    })
    .replaceAll(/\\begin\{(?:p|b|B|small)matrix\}|\\begin\{array\}(?:\{[^{}]*\})?/g, '\\begin{matrix}')
    .replaceAll(/\\end\{(?:(?:p|b|B|small)matrix|array)\}/g, '\\end{matrix}')
    .replaceAll(new RegExp(String.raw`\\(?:${TEXT_COMMANDS})\s*\{`, 'g'), '\\text{')
    .replaceAll('**', '^')
    // LaTeX reads 2^10 as 2¹·0, but authors mean 2¹⁰.
    .replaceAll(/\^(-?\d{2,})/g, '^{$1}')
    .replaceAll(/(?<=\d)\s+(?=\d{3}(?!\d))/g, '')
    .replaceAll('<=', '\\leq ')
    .replaceAll('>=', '\\geq ')
    .replaceAll('!=', '\\neq ')
    .replaceAll(/(?<![\\a-zA-Z])sqrt\s*\(([^()]*)\)/g, '\\sqrt{$1}')
    .replaceAll(/(?<![\\a-zA-Z])(pi|sin|cos|tan|ln|log|infty)(?![a-zA-Z])/g, '\\$1 ')
    .replaceAll(/(?<![\\a-zA-Z])(?:infinity|inf)(?![a-zA-Z])/gi, '\\infty ')
    .replaceAll(/\\text\{\s*(?:and|or)\s*\}|(?<=\d|\}|\))\s+(?:and|or)\s+(?=\S)/g, ', ');
  return withoutUnits(text)
    .replace(/[.,;:\s]+$/, '')
    .trim();
}

/** `15 \text{ cm}^2` is 15, and `5 apples` is 5, but `\text{Evelyn}` and `x y` stay. */
function withoutUnits(text: string): string {
  const withoutText = text.replaceAll(/\\text\{[^{}]*\}(?:\s*\^\s*(?:\{[^{}]*\}|\d))?/g, ' ').trim();
  const rest = withoutText === '' || !/[\d)}\]a-zA-Z]/.test(withoutText) || /[=<>(]\s*$/.test(withoutText) ? text : withoutText;
  const percent = /^([-+]?[\d.,]+)\s*(?:percent(?:age)?|pct)\.?$/i.exec(rest);
  if (percent) return `${percent[1]}%`;
  return /^([-+]?[\d.,/]+)\s+[a-zA-Z]{3,}(?:\s+[a-zA-Z]+){0,4}\.?$/.exec(rest)?.[1] ?? rest;
}

/** Removes spaces, for comparing two normal forms as text. Adjacent numbers stay separate. */
export function withoutSpaces(latex: string): string {
  return latex
    .replaceAll(/(?<!\d)\s+|\s+(?!\d)/g, '')
    .replaceAll(/\^\{(\w)\}/g, '^$1')
    .replaceAll(/_\{(\w)\}/g, '_$1');
}
