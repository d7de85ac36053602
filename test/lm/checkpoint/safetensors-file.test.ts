import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CheckpointError, type CheckpointErrorKind } from '../../../backend/lm/checkpoint/errors.ts';
import { parseSafetensorsHeader, readSafetensorsHeader, storedTensor } from '../../../backend/lm/checkpoint/safetensors-file.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { encodeSafetensors, safetensorsOf } from '../../support/write-safetensors.ts';

async function fileOf(bytes: Uint8Array): Promise<string> {
  const file = join(await temporaryFolder(), 'model.safetensors');
  await writeFile(file, bytes);
  return file;
}

const entry = (dtype: unknown, shape: unknown, offsets: unknown) => ({ dtype, shape, data_offsets: offsets });

test('lists the tensors of a file in the order of their bytes', async () => {
  const bytes = encodeSafetensors({
    'second.weight': { type: 'F32', shape: [2, 3], data: [1, 2, 3, 4, 5, 6] },
    first: { type: 'BF16', shape: [], data: [1] },
    empty: { type: 'F16', shape: [0, 4], data: [] },
    mask: { type: 'BOOL', shape: [3], data: new Uint8Array(3) },
  });
  const file = await fileOf(bytes);
  const { tensors } = await readSafetensorsHeader(file);
  const dataStart = bytes.length - 29;
  expect(tensors).toEqual([
    { name: 'second.weight', storedAs: 'F32', shape: [2, 3], file, offset: dataStart, byteLength: 24 },
    { name: 'first', storedAs: 'BF16', shape: [], file, offset: dataStart + 24, byteLength: 2 },
    { name: 'empty', storedAs: 'F16', shape: [0, 4], file, offset: dataStart + 26, byteLength: 0 },
    { name: 'mask', storedAs: 'BOOL', shape: [3], file, offset: dataStart + 26, byteLength: 3 },
  ]);
});

test.each(['I8', 'F64', 'F8_E4M3', 'constructor'])('refuses a tensor of type %s when it is needed', (type) => {
  const listed = { name: 'w', storedAs: type, shape: [1], file: '/f', offset: 8, byteLength: 1 };
  expect(() => storedTensor(listed)).toThrow(expect.objectContaining({ kind: 'unsupported-type', tensor: 'w', file: '/f' }));
});

const GOOD = { a: entry('F32', [2], [0, 8]), b: entry('BF16', [4], [8, 16]) };
const DATA = new Uint8Array(16);

test.each<[what: string, header: unknown, kind: CheckpointErrorKind]>([
  ['a list', [], 'malformed'],
  ['null', null, 'malformed'],
  ['a tensor that is no object', { ...GOOD, a: 1 }, 'malformed'],
  ['no type', { ...GOOD, a: entry(undefined, [2], [0, 8]) }, 'malformed'],
  ['no shape', { ...GOOD, a: entry('F32', undefined, [0, 8]) }, 'malformed'],
  ['a negative length', { ...GOOD, a: entry('F32', [-2], [0, 8]) }, 'malformed'],
  ['a broken length', { ...GOOD, a: entry('F32', [2.5], [0, 8]) }, 'malformed'],
  ['a shape of more axes than anything has', { ...GOOD, a: entry('F32', [2, 1, 1, 1, 1, 1, 1, 1, 1], [0, 8]) }, 'malformed'],
  ['one offset', { ...GOOD, a: entry('F32', [2], [0]) }, 'malformed'],
  ['offsets that run backwards', { ...GOOD, a: entry('F32', [2], [8, 0]) }, 'malformed'],
  ['a negative offset', { ...GOOD, a: entry('F32', [2], [-8, 0]) }, 'malformed'],
  ['a shape that does not fill the bytes', { ...GOOD, a: entry('F32', [1], [0, 8]) }, 'malformed'],
  ['a shape whose size overflows', { ...GOOD, a: entry('F32', [2 ** 40, 2 ** 40, 2 ** 40], [0, 8]) }, 'malformed'],
  ['a gap', { a: entry('F32', [1], [0, 4]), b: GOOD.b }, 'malformed'],
  ['an overlap', { a: GOOD.a, b: entry('BF16', [6], [4, 16]) }, 'malformed'],
  ['the same bytes twice', { ...GOOD, c: GOOD.b }, 'malformed'],
  ['a file that is longer', { a: GOOD.a }, 'malformed'],
  ['a file that is shorter', { ...GOOD, c: entry('F32', [1], [16, 20]) }, 'truncated'],
])('refuses a header with %s', async (_what, header, kind) => {
  const file = await fileOf(safetensorsOf(JSON.stringify(header), DATA));
  await expect(readSafetensorsHeader(file)).rejects.toMatchObject({ name: 'CheckpointError', kind, file });
});

test('notices a name that stands twice by the bytes that nobody mentions any more', async () => {
  const twice = `{"a":${JSON.stringify(GOOD.a)},"a":${JSON.stringify(GOOD.b)}}`;
  await expect(readSafetensorsHeader(await fileOf(safetensorsOf(twice, DATA)))).rejects.toMatchObject({ kind: 'malformed' });
});

test('takes names that mean something to JavaScript for names', async () => {
  const header = `{"__proto__":${JSON.stringify(GOOD.a)},"constructor":${JSON.stringify(GOOD.b)}}`;
  const { tensors } = await readSafetensorsHeader(await fileOf(safetensorsOf(header, DATA)));
  expect(tensors.map(({ name }) => name)).toEqual(['__proto__', 'constructor']);
  const inherited = '{"a":{"__proto__":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}}';
  await expect(readSafetensorsHeader(await fileOf(safetensorsOf(inherited, DATA)))).rejects.toMatchObject({ kind: 'malformed' });
});

test.each<[what: string, bytes: Uint8Array, kind: CheckpointErrorKind]>([
  ['an empty file', new Uint8Array(), 'truncated'],
  ['a file of seven bytes', new Uint8Array(7), 'truncated'],
  ['an empty header', new Uint8Array(8), 'malformed'],
  ['a file that ends in its header', safetensorsOf('{}'.padEnd(64)).subarray(0, 40), 'truncated'],
  ['a header that says it is enormous', new Uint8Array(32).fill(0xff), 'malformed'],
  ['a header of 4 MiB and one byte', Uint8Array.of(1, 0, 0x40, 0, 0, 0, 0, 0, 0x7b), 'malformed'],
  ['a header that is not JSON', safetensorsOf('{"a":'), 'malformed'],
  ['a header that is not UTF-8', safetensorsOf(Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)), 'malformed'],
  ['a header that is nested deeply', safetensorsOf('['.repeat(1_000_000)), 'malformed'],
  ['a page of HTML', new TextEncoder().encode('<!doctype html><title>404</title>'), 'malformed'],
])('refuses %s', async (_what, bytes, kind) => {
  const file = await fileOf(bytes);
  await expect(readSafetensorsHeader(file)).rejects.toMatchObject({ name: 'CheckpointError', kind, file });
});

test('every file cut short is called truncated', async () => {
  const whole = encodeSafetensors({ a: { type: 'F32', shape: [2], data: [1, 2] }, b: { type: 'F16', shape: [1], data: [3] } });
  for (let length = 0; length < whole.length; length += 1) {
    const file = await fileOf(whole.subarray(0, length));
    await expect(readSafetensorsHeader(file)).rejects.toMatchObject({ kind: 'truncated' });
  }
});

test('a file that cannot be read is said to be', async () => {
  await expect(readSafetensorsHeader(await temporaryFolder())).rejects.toMatchObject({ kind: 'unreadable' });
});

/** Parses and returns the tensors, or undefined where a CheckpointError was thrown; anything else fails the test. */
function tryParse(header: Uint8Array, fileBytes: number) {
  try {
    return parseSafetensorsHeader(header, { file: '/f', dataStart: 8 + header.length, fileBytes: 8 + header.length + fileBytes });
  } catch (error) {
    if (error instanceof CheckpointError) return undefined;
    throw error;
  }
}

test('whatever bytes a header has, nothing but a CheckpointError is thrown', () => {
  const json = fc.json().map((text) => new TextEncoder().encode(text));
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 200 }), json);
  fc.assert(fc.property(bytes, fc.nat(64), (header, fileBytes) => void tryParse(header, fileBytes)), { numRuns: 1000 });
});

const BYTES = { F32: 4, F16: 2, BF16: 2 };
const sound = fc.array(fc.tuple(fc.constantFrom('F32', 'F16', 'BF16'), fc.array(fc.nat(4), { maxLength: 3 })), { maxLength: 4 });

/** A header without a mistake, and how many bytes it describes. */
function headerOf(tensors: readonly (readonly [keyof typeof BYTES, readonly number[]])[]) {
  let end = 0;
  const entries = tensors.map(([dtype, shape]) => {
    const begin = end;
    end += shape.reduce((product, length) => product * length, BYTES[dtype]);
    return entry(dtype, [...shape], [begin, end]);
  });
  return { header: Object.fromEntries(entries.map((value, index) => [`tensor ${index}`, value])), dataBytes: end };
}

test('accepts every header that is sound', () => {
  fc.assert(fc.property(sound, (tensors) => {
    const { header, dataBytes } = headerOf(tensors);
    expect(tryParse(new TextEncoder().encode(JSON.stringify(header)), dataBytes)).toHaveLength(tensors.length);
  }));
});

test('whatever number of a header is changed, the tensors it gives cover the file once and in order', () => {
  const number = fc.oneof(fc.nat(64), fc.integer(), fc.double(), fc.constant(2 ** 53));
  fc.assert(fc.property(sound, fc.nat(), number, fc.nat(1), (tensors, where, value, longer) => {
    const { header, dataBytes } = headerOf(tensors);
    // A number of the header is one that stands behind a comma or a bracket.
    const text = JSON.stringify(header);
    const numbers = [...text.matchAll(/(?<=[[,])\d+/g)];
    const { 0: old = '', index = 0 } = numbers[where % Math.max(1, numbers.length)] ?? {};
    const changed = old === '' ? text : text.slice(0, index) + JSON.stringify(value) + text.slice(index + old.length);
    const bytes = new TextEncoder().encode(changed);
    let end = 8 + bytes.length;
    const parsed = tryParse(bytes, dataBytes + longer);
    for (const tensor of parsed ?? []) {
      expect(tensor.offset).toBe(end);
      end += tensor.byteLength;
    }
    if (parsed !== undefined) expect(end).toBe(8 + bytes.length + dataBytes + longer);
  }), { numRuns: 2000 });
});

test('a file with bytes changed at random is read or refused, never anything else', async () => {
  const folder = await temporaryFolder();
  const whole = encodeSafetensors({
    a: { type: 'F32', shape: [2], data: [1, 2] },
    b: { type: 'I8', shape: [1], data: new Uint8Array(1) },
  });
  const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
  await fc.assert(fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
    const bytes = Uint8Array.from(whole);
    for (const [index, value] of changes) bytes[index] = value;
    const file = join(folder, 'changed.safetensors');
    await writeFile(file, bytes);
    await readSafetensorsHeader(file).catch((error: unknown) => expect(error).toBeInstanceOf(CheckpointError));
  }), { numRuns: 300 });
});
