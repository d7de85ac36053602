import { replaceFile } from '../../common/replace-file.ts';
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
 * Replaces `file` with the tensors in the given order, atomically. `metadata` contains texts that other tools show. `type` is the stored
 * type; bfloat16 rounds the numbers. @throws file system errors
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
  await replaceFile(file, async (handle) => {
    await handle.writeFile(head);
    for (const { data } of tensors) {
      const { buffer, byteOffset, byteLength } = type === 'bfloat16' ? narrow(data) : data;
      await handle.writeFile(new Uint8Array(buffer, byteOffset, byteLength));
    }
  }, { mode: 0o666 });
}
