/*
 * Byte-level tokenizers write their tokens in an alphabet of 256 printable characters, one for each byte (GPT-2's
 * `bytes_to_unicode`, https://github.com/openai/gpt-2/blob/master/src/encoder.py). Bytes that are printable in Latin-1
 * represent themselves; the others map, in order, to the characters from U+0100 on.
 */

const LAST = 0x143;
const NO_BYTE = -1;

const byteOfCharacter = new Int16Array(LAST + 1).fill(NO_BYTE);
const characterOfByte: string[] = [];
for (let byte = 0, next = 0x100; byte < 256; byte++) {
  const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  const character = printable ? byte : next++;
  byteOfCharacter[character] = byte;
  characterOfByte.push(String.fromCharCode(character));
}

/** The 256 characters, in the order of their bytes. */
export const BYTE_CHARACTERS: readonly string[] = characterOfByte;

/**
 * Writes the bytes of a token in the alphabet.
 * @returns the offset after the last byte, or `undefined` if a character is not in the alphabet; some bytes may then be written
 */
export function writeTokenBytes(token: string, bytes: Uint8Array, offset: number): number | undefined {
  for (let at = 0; at < token.length; at++) {
    const byte = byteOfCharacter[token.charCodeAt(at)] ?? NO_BYTE;
    if (byte === NO_BYTE) return undefined;
    bytes[offset++] = byte;
  }
  return offset;
}
