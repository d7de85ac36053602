import type { Fence } from './fences.ts';

/** The path that a code block names, as written. */
export interface NamedPath {
  readonly path: string;
  /**
   * False for a bare name without a folder in a heading or a comment ("### Node.js"): it counts only if such a file exists.
   */
  readonly explicit: boolean;
  /** The path stood in a comment on the block's first line, which is no part of the file. */
  readonly fromFirstLine: boolean;
  /** Another path that the same block names. */
  readonly conflict?: string | undefined;
}

/** Finds the path in the info string, in the line before the fence, or in a comment on the first line; in this order. */
export function namedPath(fence: Fence): NamedPath | undefined {
  const inInfo = pathInInfo(fence.info);
  const before = fence.lineBefore === undefined ? undefined : pathInLabel(fence.lineBefore);
  const inComment = pathInComment(fence.lines[0] ?? '');
  const found = inInfo ?? before?.path ?? inComment;
  if (found === undefined) return undefined;
  const conflict = [before?.explicit ? before.path : undefined, inComment?.includes('/') ? inComment : undefined].find(
    (other) => other !== undefined && trimmed(other) !== trimmed(found),
  );
  return {
    path: found,
    explicit: inInfo !== undefined || (before?.path === found && before.explicit) || found.includes('/'),
    fromFirstLine: inComment !== undefined && trimmed(inComment) === trimmed(found),
    conflict,
  };
}

/** `[src/a.js](src/a.js)` is its text. */
const withoutLinks = (line: string): string => line.replaceAll(/\[([^\][]{1,300})\]\([^()\s]{1,500}\)/g, '$1');

/** The paths that a sentence names, in its order. */
export function pathsIn(line: string): string[] {
  if (line.length > 2_000) return [];
  const words = [...withoutLinks(line).matchAll(/`([^`]{1,300})`|([^\s`"'()[\]<>*,;]+)/g)].map(([, code, word]) => (code ?? word ?? '').trim());
  const paths = words.map((word) => word.replace(/^[("'[]+/, '').replace(/(?:[)"'\].,;!?]|:(?:\d+(?::\d+)?)?)+$/, '')).filter((word) => looksLikePath(word) && /\.\w+$/.test(word));
  return [...new Set(paths)];
}

const trimmed = (path: string): string => path.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');

/** ```` ```js src/a.js ````, ```` ```src/a.js ````, ```` ```js:src/a.js ````, ```` ```js title="src/a.js" ````. */
function pathInInfo(info: string): string | undefined {
  const attribute = /(?:^|[\s{])(?:title|file|filename|filepath|path)=(?:"([^"]*)"|'([^']*)'|([^\s}]+))/i.exec(info);
  if (attribute) return attribute[1] ?? attribute[2] ?? attribute[3];
  const [language = '', second] = info.split(/\s+/, 2);
  // "12:40:src/a.js" quotes lines 12 to 40 of a file; it is no file.
  if (/^\d+:\d+:/.test(language)) return undefined;
  const afterColon = /^[A-Za-z0-9+#-]{2,}:(.+)$/.exec(language)?.[1];
  return [second, afterColon, language].find((word) => word !== undefined && looksLikePath(word));
}

/** `**src/a.js**`, `### src/a.js`, "File: src/a.js", "1. `src/a.js` (new):". Nothing else may stand on the line. */
function pathInLabel(line: string): { path: string; explicit: boolean } | undefined {
  if (line.length > 400) return undefined;
  let text = withoutLinks(line).replace(/^(?:(?:#{1,6}|[-*+]|\d+[.)])\s+)+/, '').replace(/\s*:\s*$/, '');
  text = unwrapped(text);
  const withoutWord = text.replace(/^(?:(?:new|updated|modified|changed)\s+)?(?:file(?:name)?|path)\b\s*:?\s*/i, '');
  const saysFile = withoutWord !== text;
  text = unwrapped(
    unwrapped(withoutWord)
      .replace(/\s*\((?:new|updated|modified|changed|full|complete|final|fixed|corrected|revised)?\s*(?:file|version)?\)$/i, '')
      // The way in which the files of a question are shown.
      .replace(/,? (?:\(?lines? \d+\s*[-–]\s*\d+(?: of \d+)?\)?|whole file, \d+ lines?)(?: \([^()]{0,200}\))?$/i, ''),
  );
  const code = /^`+([^`]+)`+$/.exec(text.replace(/\s*:\s*$/, ''))?.[1]?.trim();
  const path = code ?? text;
  if (!looksLikePath(path)) return undefined;
  return { path, explicit: saysFile || code !== undefined || path.includes('/') };
}

function unwrapped(text: string): string {
  const inner = /^(\*\*|__|\*|_)(.+)\1$/.exec(text.trim())?.[2] ?? text.trim();
  return inner.replace(/\s*:\s*$/, '').trim();
}

/** A comment that holds nothing but a path: `// src/a.js`, `# src/a.py`, `<!-- index.html -->`. */
function pathInComment(line: string): string | undefined {
  if (line.length > 400) return undefined;
  const text = /^\s*(?:\/\/|#|--|;|\/\*+|<!--)\s*(?:file(?:name|path)?|path)?\s*:?\s*(.+?)\s*(?:\*\/|-->)?\s*$/i.exec(line)?.[1];
  return text !== undefined && looksLikePath(text) ? text : undefined;
}

/**
 * Has a folder or an extension and nothing that prose or code has. Dangerous paths (absolute, drive letters, backslashes) look
 * like paths on purpose: they are to be refused with a reason instead of overlooked.
 */
export function looksLikePath(word: string): boolean {
  if (/^[A-Za-z]:[\\/][^\s]+$/.test(word)) return true;
  if (!/^[^\s`"'*<>|?:;,(){}=!$&]+$/.test(word) || word.includes('://') || /^[./\\~-]*$/.test(word)) return false;
  return /[/\\]/.test(word) ? /[\w.-]$/.test(word) : /^[\w.@+-]*\.[A-Za-z]\w{0,9}$/.test(word);
}
