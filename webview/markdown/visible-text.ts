// Characters that reorder or hide adjacent text. In code they can disguise a change (CVE-2021-42574), so they must be visible.
const INVISIBLE = /[\u061C\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/g;
// Control characters that a page would not show, except tab and line feed.
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;

/** Code for display: every invisible character that affects its neighbours is shown as its code point. */
export function visibleText(code: string): string {
  return code
    .replace(/\r\n/g, '\n')
    .replace(INVISIBLE, name)
    .replace(CONTROL, name);
}

function name(character: string): string {
  return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** The first `limit` characters, cut at a nearby line end if there is one and never inside a surrogate pair. */
export function head(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit);
  const line = cut.lastIndexOf('\n');
  if (line > limit * 0.8) return cut.slice(0, line);
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}

/** The last `limit` characters, for text that is still growing. */
export function tail(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(-limit);
  return /^[\uDC00-\uDFFF]/.test(cut) ? cut.slice(1) : cut;
}
