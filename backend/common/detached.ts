/** A copy that does not keep alive the text that it is a part of, as parts of a string do in V8. */
export function detached(part: string): string {
  return Buffer.from(part, 'utf8').toString('utf8');
}
