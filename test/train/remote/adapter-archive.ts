import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { writeAdapter } from '../../../backend/lm/adapter/write-adapter.ts';
import { PROJECTIONS, projectionSize } from '../../../backend/lm/adapter/projections.ts';
import type { DecoderConfig } from '../../../backend/lm/checkpoint/decoder-config.ts';

const BLOCK = 512;

/** An adapter of zeros for this geometry as servers send one: a compressed tar archive of a PEFT folder, which is written into `folder`. */
export async function adapterArchive(config: DecoderConfig, folder: string): Promise<Uint8Array> {
  const rank = 2;
  const pairs = new Map(PROJECTIONS.map((projection) => {
    const size = projectionSize(config, projection);
    return [projection, { a: new Float32Array(rank * size.in), b: new Float32Array(size.out * rank) }];
  }));
  await writeAdapter(folder, { rank, alpha: 32, baseModel: 'small', layers: Array.from({ length: config.layers }, () => pairs) });
  const files = await Promise.all((await readdir(folder)).map(async (name) => ({ name, bytes: await readFile(path.join(folder, name)) })));
  return gzipSync(Buffer.concat([...files.flatMap(({ name, bytes }) => [headerOf(name, bytes.length), bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)]), Buffer.alloc(2 * BLOCK)]));
}

function headerOf(name: string, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0);
  header.write(size.toString(8).padStart(11, '0'), 124);
  header.write('0', 156);
  return header;
}
