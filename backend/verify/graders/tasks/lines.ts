/** A line exceeds the length limit. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';

  constructor(maxBytes: number) {
    super(`this line is longer than ${Math.round(maxBytes / 1024 / 1024)} MiB.`);
  }
}

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Yields the lines of a UTF-8 stream without their line ends. Holds one line in memory. Throws `LineTooLongError`, and the stream's errors.
 */
export async function* linesOf(stream: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let bytes = 0;
  let isFirst = true;
  const line = (): string => {
    const text = Buffer.concat(parts).toString('utf8').replace(/\r$/, '');
    parts = [];
    bytes = 0;
    const whole = isFirst && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
    isFirst = false;
    return whole;
  };
  const add = (part: Buffer): void => {
    bytes += part.length;
    if (bytes > maxBytes) throw new LineTooLongError(maxBytes);
    parts.push(part);
  };
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, end));
      yield line();
      from = end + 1;
    }
    add(chunk.subarray(from));
  }
  if (bytes > 0) yield line();
}
