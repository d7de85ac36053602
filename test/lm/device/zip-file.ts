import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipFile {
  readonly name: string;
  readonly content: Buffer;
  readonly isStored?: boolean;
  /** Sizes and offset in the 64-bit fields, as for files beyond 4 GB. */
  readonly is64?: boolean;
  /** What the archive says of it, where that is not the truth. */
  readonly claims?: { readonly sizeBytes?: number; readonly crc?: number; readonly flags?: number; readonly method?: number };
}

const FULL = 0xffff_ffff;

/** A zip archive; with `is64` its end is in the 64-bit form too. */
export function zipOf(files: readonly ZipFile[], { is64 = false, comment = '' } = {}): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, isStored = false, is64: wide = false, claims = {} } of files) {
    const packed = isStored ? content : deflateRawSync(content);
    const label = Buffer.from(name);
    const crc = claims.crc ?? crc32(content);
    const sizeBytes = claims.sizeBytes ?? content.length;
    const method = claims.method ?? (isStored ? 0 : 8);
    // The local header has an extra field of another length than the directory's, as real archives do.
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(method, 8);
    local.writeUInt16LE(label.length, 26);
    local.writeUInt16LE(9, 28);
    const extra = wide ? Buffer.alloc(28) : Buffer.alloc(0);
    if (wide) {
      extra.writeUInt16LE(1, 0);
      extra.writeUInt16LE(24, 2);
      extra.writeBigUInt64LE(BigInt(sizeBytes), 4);
      extra.writeBigUInt64LE(BigInt(packed.length), 12);
      extra.writeBigUInt64LE(BigInt(offset), 20);
    }
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(claims.flags ?? 0, 8);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(crc, 16);
    entry.writeUInt32LE(wide ? FULL : packed.length, 20);
    entry.writeUInt32LE(wide ? FULL : sizeBytes, 24);
    entry.writeUInt16LE(label.length, 28);
    entry.writeUInt16LE(extra.length, 30);
    entry.writeUInt16LE(3, 32);
    entry.writeUInt32LE(wide ? FULL : offset, 42);
    locals.push(local, label, Buffer.alloc(9), packed);
    directory.push(entry, label, extra, Buffer.from('abc'));
    offset += 30 + label.length + 9 + packed.length;
  }
  const list = Buffer.concat(directory);
  const end64 = Buffer.alloc(is64 ? 76 : 0);
  if (is64) {
    end64.writeUInt32LE(0x06064b50, 0);
    end64.writeBigUInt64LE(44n, 4);
    end64.writeBigUInt64LE(BigInt(list.length), 40);
    end64.writeBigUInt64LE(BigInt(offset), 48);
    end64.writeUInt32LE(0x07064b50, 56);
    end64.writeBigUInt64LE(BigInt(offset + list.length), 64);
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt32LE(is64 ? FULL : list.length, 12);
  end.writeUInt32LE(is64 ? FULL : offset, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...locals, list, end64, end, Buffer.from(comment)]);
}
