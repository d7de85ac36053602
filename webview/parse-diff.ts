import * as l10n from '@vscode/l10n';

/** One line of a unified diff for display. */
export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'same' | 'hunk';
  readonly text: string;
}

export interface ParsedDiff {
  readonly lines: readonly DiffLine[];
  readonly added: number;
  readonly removed: number;
}

/** The lines of one file's unified diff. Omits the lines before the first hunk (file names): the page shows them elsewhere. */
export function parseDiff(diff: string): ParsedDiff {
  const lines: DiffLine[] = [];
  let inHunk = false;
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const hunk = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (hunk) {
      inHunk = true;
      lines.push({ kind: 'hunk', text: l10n.t('line {0}', hunk[1] ?? '') });
    } else if (inHunk && line.startsWith('+')) {
      lines.push({ kind: 'added', text: line.slice(1) });
    } else if (inHunk && line.startsWith('-')) {
      lines.push({ kind: 'removed', text: line.slice(1) });
    } else if (inHunk && !line.startsWith('\\')) {
      lines.push({ kind: 'same', text: line.slice(1) });
    }
  }
  const count = (kind: DiffLine['kind']): number => lines.filter((line) => line.kind === kind).length;
  return { lines, added: count('added'), removed: count('removed') };
}
