const DECLARATION =
  /^export\s+(?:declare\s+|abstract\s+|async\s+)*(?:function\s*\*?|class|const|let|var|interface|type|enum)\s+([\w$]+)/;

/**
 * The names that a JavaScript or TypeScript text exports, read by form and not by parsing: enough to tell whether a code block is
 * the whole of a file whose exports are known.
 */
export function exportedNames(source: string): ReadonlySet<string> {
  const names = new Set<string>();
  const add = (name: string | undefined): void => {
    if (name) names.add(name);
  };
  for (const line of source.split('\n')) {
    if (line.length > 2_000) continue;
    add(DECLARATION.exec(line)?.[1]);
    if (/^export\s+default\b/.test(line) || /^module\.exports\s*=\s*[^{\s]/.test(line)) names.add('default');
    add(/^(?:module\.)?exports\.([\w$]+)\s*=/.exec(line)?.[1]);
  }
  for (const [, list = ''] of source.matchAll(/^(?:export|module\.exports\s*=)\s*\{([^{}]{0,4000})\}/gm)) {
    for (const item of list.split(',')) add(lastName(item));
  }
  return names;
}

/** `a`, `a as b` and `a: b` give the name that others see: `a`, `b` and `a`. */
function lastName(item: string): string | undefined {
  const last = item.split(':', 1)[0]?.trim().split(/\s+/).at(-1);
  return last !== undefined && /^[\w$]+$/.test(last) ? last : undefined;
}
