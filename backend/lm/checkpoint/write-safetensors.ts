import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { narrow } from './narrow.ts';
import { encodeSafetensorsHead } from './safetensors-head.ts';
import { BYTES_PER_VALUE } from './widen.ts';

export interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

const TYPE_NAMES = { float32: 'F32', bfloat16: 'BF16' } as const;

/**
 * Writes tensors, in the order given, beside `file` and renames: what lies there is the old file or the new one whole. `metadata`: texts that
 * other tools show. `type`: in which the numbers are stored; bfloat16 rounds them. Throws file system errors.
 */
export async function writeSafetensors(
  file: string, tensors: readonly NamedTensor[], metadata: Readonly<Record<string, string>> = {}, type: keyof typeof TYPE_NAMES = 'float32',
): Promise<void> {
  let end = 0;
  const entries = tensors.map(({ name, shape, data }) => {
    const begin = end;
    end += data.length * BYTES_PER_VALUE[type];
    return [name, { dtype: TYPE_NAMES[type], shape, data_offsets: [begin, end] }];
  });
  const head = encodeSafetensorsHead({ __metadata__: metadata, ...Object.fromEntries(entries) });
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.tmp`);
  try {
    const handle = await open(temporary, 'w');
    try {
      await handle.writeFile(head);
      for (const { data } of tensors) {
        const { buffer, byteOffset, byteLength } = type === 'bfloat16' ? narrow(data) : data;
        await handle.writeFile(new Uint8Array(buffer, byteOffset, byteLength));
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
