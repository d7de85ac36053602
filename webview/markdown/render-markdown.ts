import * as l10n from '@vscode/l10n';
import DOMPurify from 'dompurify';
import markdownIt, { type MarkdownIt, type Token } from 'markdown-it';
import { withFencedChanges, withoutChanges } from '../../backend/protocol/fenced-changes.ts';
import { visibleText } from './visible-text.ts';

/*
 * Renders a model's text as safe HTML: no raw HTML, no images, no working links. The sanitiser after the renderer is the second line of
 * defence, the page's content security policy the third.
 */

export type MarkdownPart =
  | { readonly kind: 'html'; readonly html: string }
  | { readonly kind: 'code'; readonly language: string; readonly code: string };

const markdown = createMarkdown();

const ALLOWED_TAGS = [
  'p', 'br', 'hr', 'strong', 'em', 's', 'code', 'pre', 'blockquote', 'ul', 'ol', 'li',
  'table', 'thead', 'tbody', 'tr', 'th', 'td', 'span',
];
const ALLOWED_ATTR = ['class', 'start'];

/** Splits the text into parts: each top-level code block is a part of its own, so that it can have buttons. */
export function renderMarkdown(text: string): MarkdownPart[] {
  const environment = {};
  const parts: MarkdownPart[] = [];
  let prose: Token[] = [];
  const flush = (): void => {
    if (prose.length === 0) return;
    parts.push({ kind: 'html', html: sanitise(markdown.renderer.render(prose, markdown.options, environment)) });
    prose = [];
  };
  for (const token of markdown.parse(withFencedChanges(text), environment)) {
    if (token.level === 0 && (token.type === 'fence' || token.type === 'code_block')) {
      flush();
      parts.push({ kind: 'code', language: languageOf(token.info), code: token.content.replace(/\n$/, '') });
    } else {
      prose.push(token);
    }
  }
  flush();
  return parts;
}

/** The code blocks of the text, in order. */
export function codeBlocksOf(text: string): string[] {
  return renderMarkdown(text).flatMap((part) => (part.kind === 'code' ? [part.code] : []));
}

/** A code block, possibly an incomplete one. */
const FENCED = /^[ \t]*(```|~~~)[^\n]*\n(?:[\s\S]*?^[ \t]*\1[^\n]*$|[\s\S]*)/gm;

/** The first words of a text without markup, for a line or two; if it is only code, its first lines. Reads only the beginning. */
export function excerptOf(text: string, length = 280): string {
  const beginning = text.slice(0, length * 8);
  const words = wordsOf(withoutChanges(beginning).replace(FENCED, ' ')).slice(0, length);
  // Joining the lines of code would change its meaning.
  return words !== '' ? words : beginning.replace(/^[ \t]*(?:```|~~~).*$/gm, '').trim().slice(0, length);
}

function wordsOf(text: string): string {
  return text
    .replace(/^\s{0,3}(?:#{1,6}|>|[-*+]|\d+[.)])\s+/gm, '')
    .replace(/!?\[([^\]]*)\]\([^)\s]*\)/g, '$1')
    .replace(/\*\*|__|`/g, '')
    .replace(/(^|\s)\*(\S[^*\n]*)\*/g, '$1$2')
    .replace(/\s+/g, ' ')
    .trim();
}

function sanitise(html: string): string {
  return DOMPurify.sanitize(html, { ALLOWED_TAGS, ALLOWED_ATTR, ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false });
}

/** The first word of a fence's info string: models add paths and attributes after it. */
function languageOf(info: string): string {
  return info.trim().split(/[\s:{]/)[0]?.slice(0, 24) ?? '';
}

function createMarkdown(): MarkdownIt {
  const md = markdownIt('default', { html: false, linkify: false, typographer: false });
  const escape = md.utils.escapeHtml;
  md.validateLink = () => true; // Links do not work, so any address may be shown.

  md.renderer.rules.image = (tokens, index) => `<span class="image">[${escape(l10n.t('image: {0}', tokens[index]?.content ?? ''))}]</span>`;

  // A link becomes its text followed by its address, unless they are equal.
  md.renderer.rules.link_open = () => '<span class="link">';
  md.renderer.rules.link_close = (tokens, index) => {
    const { address, label } = linkBefore(tokens, index);
    return address === label ? '</span>' : `</span> <span class="address">(${escape(visibleText(address))})</span>`;
  };

  // A model's headings must not become headings of the page: they would break its outline for screen readers.
  md.renderer.rules.heading_open = () => '<p class="heading"><strong>';
  md.renderer.rules.heading_close = () => '</strong></p>';

  // Code inside lists and quotes. A component renders top-level code.
  md.renderer.rules.fence = (tokens, index) => `<pre><code>${escape(visibleText(tokens[index]?.content ?? ''))}</code></pre>`;
  md.renderer.rules.code_inline = (tokens, index) => `<code>${escape(visibleText(tokens[index]?.content ?? ''))}</code>`;
  return md;
}

function linkBefore(tokens: readonly Token[], close: number): { address: string; label: string } {
  let open = close;
  while (open > 0 && tokens[open]?.type !== 'link_open') open -= 1;
  return {
    address: String(tokens[open]?.attrGet('href') ?? ''),
    label: tokens.slice(open + 1, close).map((token) => token.content).join(''),
  };
}
