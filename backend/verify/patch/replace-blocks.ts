/** "Find this text, which occurs once, and put that in its place." */
export interface Replacement {
  readonly search: string;
  readonly replace: string;
}

const SEARCH = /^\s*<{5,9}\s*SEARCH\b.*$/;
const DIVIDER = /^\s*={5,9}\s*$/;
const REPLACE = /^\s*>{5,9}\s*REPLACE\b.*$/;

export function hasConflictMarkers(lines: readonly string[]): boolean {
  return lines.some((line) => SEARCH.test(line));
}

type FoundReplacement =
  | { readonly path: string | undefined; readonly replacement: Replacement }
  | { readonly path: string | undefined; readonly reason: string };

/**
 * Reads `<<<<<<< SEARCH … ======= … >>>>>>> REPLACE` blocks. The path is `path`, or the closest line above the block that is a single word.
 * Later blocks without a path belong to the same file.
 */
export function readReplacements(lines: readonly string[], path: string | undefined): FoundReplacement[] {
  const found: FoundReplacement[] = [];
  let currentPath = path;
  let section: 'outside' | 'search' | 'replace' = 'outside';
  let search: string[] = [];
  let replace: string[] = [];
  let lineAbove = '';
  for (const line of lines) {
    if (section === 'outside') {
      if (SEARCH.test(line)) {
        const named = /^[#*`\s]*(?:file\s*:)?[`*\s]*([^\s`*#]+?)[`*:\s]*$/i.exec(lineAbove)?.[1];
        if (named !== undefined && /[./\\]/.test(named)) currentPath = named;
        [section, search, replace, lineAbove] = ['search', [], [], ''];
      } else if (line.trim() !== '' && !/^\s*(`{3,}|~{3,})/.test(line)) {
        lineAbove = line.length < 400 ? line : '';
      }
    } else if (section === 'search') {
      if (DIVIDER.test(line)) section = 'replace';
      else search.push(line);
    } else if (REPLACE.test(line)) {
      found.push({ path: currentPath, replacement: { search: search.join('\n'), replace: replace.join('\n') } });
      section = 'outside';
    } else {
      replace.push(line);
    }
  }
  if (section !== 'outside')
    found.push({ path: currentPath, reason: 'A search/replace block is not closed: the answer seems to be cut off.' });
  return found;
}

/** The text after one replacement, or why it is impossible. All line ends are LF. */
export function applyReplacement(text: string, { search, replace }: Replacement): { text: string } | { reason: string } {
  if (search.trim() === '') return { reason: 'The text to search for is empty.' };
  // Whole lines only: "a" must not be found inside "ab".
  const haystack = `\n${text}\n`;
  const needle = `\n${search}\n`;
  const first = haystack.indexOf(needle);
  if (first < 0) return { reason: `The text to search for is not in the file: ${JSON.stringify(firstLine(search))}` };
  if (haystack.indexOf(needle, first + 1) >= 0) {
    return { reason: `The text to search for is in the file more than once: ${JSON.stringify(firstLine(search))}` };
  }
  const replaced = haystack.slice(0, first + 1) + (replace === '' ? '' : `${replace}\n`) + haystack.slice(first + needle.length);
  return { text: replaced.slice(1, -1) };
}

const firstLine = (text: string): string => (text.trim().split('\n', 1)[0] ?? '').slice(0, 80);
