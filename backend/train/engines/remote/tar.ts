const BLOCK = 512;

/** The archive is cut off or is none. */
export class TarError extends Error {
  override readonly name = 'TarError';
}

/**
 * The regular files of a tar archive (POSIX.1-1988, `ustar`) by the last part of their name. Folders, links and extended headers are passed
 * over: nothing is written by a name from an archive. @throws TarError
 */
export function filesInTar(archive: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  for (let at = 0; at + BLOCK <= archive.length;) {
    const header = archive.subarray(at, at + BLOCK);
    // Two blocks of zeros end an archive.
    if (header.every((byte) => byte === 0)) return files;
    const size = sizeIn(header);
    const begin = at + BLOCK;
    if (begin + size > archive.length) throw new TarError('The archive is cut off.');
    const type = String.fromCharCode(header[156] ?? 0);
    const name = textIn(header, 0, 100).split('/').at(-1) ?? '';
    if ((type === '0' || type === '\0') && name !== '') files.set(name, archive.subarray(begin, begin + size));
    at = begin + Math.ceil(size / BLOCK) * BLOCK;
  }
  throw new TarError('The archive has no end.');
}

function sizeIn(header: Uint8Array): number {
  const digits = textIn(header, 124, 12).trim();
  const size = /^[0-7]{1,11}$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN;
  if (Number.isNaN(size)) throw new TarError('The archive has a file without a size.');
  return size;
}

function textIn(header: Uint8Array, from: number, length: number): string {
  const field = header.subarray(from, from + length);
  const end = field.indexOf(0);
  return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end));
}
