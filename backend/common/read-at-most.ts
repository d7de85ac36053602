/** Reads a stream to its end, or until it has given more than `most` bytes. @throws the stream's errors */
export async function readAtMost(stream: AsyncIterable<Uint8Array>, most: number): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let count = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    count += chunk.length;
    if (count > most) break;
  }
  return { bytes: Buffer.concat(chunks), isWhole: count <= most };
}
