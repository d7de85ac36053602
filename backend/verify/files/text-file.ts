import { lstat, readFile } from 'node:fs/promises';
import path from 'node:path';

/** Larger files are not source texts that a model rewrites. */
export const MAX_FILE_BYTES = 1024 * 1024;

export type TextFile =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly reason: string };

/** Reads a file of the workspace as text. Its path has been checked (`refusalOnDisk`). A byte order mark is kept. */
export async function readTextFile(base: string, checkedPath: string): Promise<TextFile> {
  const file = path.join(base, checkedPath);
  try {
    const { size } = await lstat(file);
    if (size > MAX_FILE_BYTES) return { kind: 'refused', reason: `The file is larger than ${MAX_FILE_BYTES / 1024} KiB.` };
    const bytes = await readFile(file);
    if (bytes.includes(0)) return { kind: 'refused', reason: 'The file is not text.' };
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (error) {
    if (error instanceof TypeError) return { kind: 'refused', reason: 'The file is not text in UTF-8.' };
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return { kind: 'absent' };
    return { kind: 'refused', reason: `The file cannot be read (${code ?? String(error)}).` };
  }
}

const BYTE_ORDER_MARK = '\uFEFF';

/** Text in the form that models write: line ends are LF, no byte order mark. */
export function toPlainText(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
}

/** Whether there are line ends, and all of them are those of Windows. */
export function usesCrlf(text: string): boolean {
  return text.includes('\r\n') && !/(^|[^\r])\n/.test(text);
}

/**
 * Restores the file's line ends and byte order mark in edited plain text, so that an edit changes nothing else.
 */
export function likeOriginal(edited: string, original: string): string {
  const lines = usesCrlf(original) ? edited.replaceAll('\n', '\r\n') : edited;
  return original.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK + lines : lines;
}
