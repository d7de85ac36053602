import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { binariesIn, ForeignBinariesError, platformOf, refuseForeignBinaries } from '../../packaging/binaries.ts';

// onnxruntime-node brings its binaries for all platforms at once: real files of each format.
const onnxruntime = path.join(import.meta.dirname, '..', '..', 'node_modules', 'onnxruntime-node', 'bin', 'napi-v6');

describe('which machine a file is for', () => {
  it('is read from the file itself, in each of the three formats', async () => {
    const found = await binariesIn(onnxruntime);
    expect(found.length).toBeGreaterThan(10);
    for (const { file, platform } of found) expect(platform, file).toBe(file.split('/').slice(0, 2).join('-'));
    expect(new Set(found.map(({ platform }) => platform)))
      .toEqual(new Set(['linux-x64', 'linux-arm64', 'darwin-arm64', 'win32-x64', 'win32-arm64']));
  });

  it('is none for texts, for WebAssembly and for compiled Java', () => {
    const padded = (...bytes: number[]): Uint8Array => Uint8Array.from({ length: 80 }, (_, i) => bytes[i] ?? 0);
    expect(platformOf(new TextEncoder().encode('#!/usr/bin/env node\n'.repeat(9)))).toBeUndefined();
    expect(platformOf(padded(0x00, 0x61, 0x73, 0x6d, 1))).toBeUndefined();
    expect(platformOf(padded(0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61))).toBeUndefined();
    expect(platformOf(padded(0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 2))).toBe('darwin-universal');
    expect(platformOf(new Uint8Array())).toBeUndefined();
  });
});

describe('the folder that becomes a VSIX', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'conductor-binaries-'));
    await mkdir(path.join(folder, 'dist'));
    await writeFile(path.join(folder, 'dist', 'extension.cjs'), 'exports.activate = () => {};\n'.repeat(10));
    await cp(path.join(onnxruntime, 'linux', 'x64', 'onnxruntime_binding.node'), path.join(folder, 'dist', 'binding.node'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('passes with the code of its own machine', async () => {
    await expect(refuseForeignBinaries(folder, 'linux-x64')).resolves.toBeUndefined();
  });

  it('is refused with any other, whatever the file is called', async () => {
    await cp(path.join(onnxruntime, 'win32', 'arm64', 'onnxruntime_binding.node'), path.join(folder, 'dist', 'readme.txt'));
    const refusal = refuseForeignBinaries(folder, 'linux-x64');
    await expect(refusal).rejects.toBeInstanceOf(ForeignBinariesError);
    await expect(refusal).rejects.toMatchObject({ platform: 'linux-x64', files: ['dist/readme.txt'] });
    await expect(refuseForeignBinaries(folder, 'linux-arm64')).rejects.toThrow('dist/binding.node (for linux-x64)');
  });
});
