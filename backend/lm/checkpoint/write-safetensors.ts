import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { encodeSafetensorsHead } from './safetensors-head.ts';

export interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/**
 * Writes float32 tensors, in the order given, beside `file` and renames: what lies there is the old file or the new one whole. `metadata`:
 * texts that other tools show. Throws file system errors.
 */
export async function writeSafetensors(file: string, tensors: readonly NamedTensor[], metadata: Readonly<Record<string, string>> = {}): Promise<void> {
  let end = 0;
  const entries = tensors.map(({ name, shape, data }) => {
    const begin = end;
    end += data.byteLength;
    return [name, { dtype: 'F32', shape, data_offsets: [begin, end] }];
  });
  const head = encodeSafetensorsHead({ __metadata__: metadata, ...Object.fromEntries(entries) });
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.tmp`);
  try {
    const handle = await open(temporary, 'w');
    try {
      for (const bytes of [head, ...tensors.map(({ data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength))]) {
        await handle.writeFile(bytes);
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
