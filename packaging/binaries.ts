import { open, readdir } from 'node:fs/promises';
import path from 'node:path';

/** Enough for the headers of ELF and Mach-O, and of nearly all PE files. */
const HEADER_BYTES = 4096;

const ELF_MACHINES: Readonly<Record<number, string>> = { 0x3e: 'x64', 0xb7: 'arm64' };
const MACH_CPUS: Readonly<Record<number, string>> = { 0x01000007: 'x64', 0x0100000c: 'arm64' };
const PE_MACHINES: Readonly<Record<number, string>> = { 0x8664: 'x64', 0xaa64: 'arm64' };

/**
 * The platform of a file's machine code, by its first bytes (ELF, Mach-O and PE). Scripts, WebAssembly and Java archives have none.
 * @returns VS Code's name, such as "linux-x64"; "darwin-universal" for several processors; "linux-?" for an unsupported processor; undefined if
 * the file has no machine code.
 */
export function platformOf(header: Uint8Array): string | undefined {
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  if (header.length < 64) return undefined;
  const magic = view.getUint32(0);
  if (magic === 0x7f454c46) return `linux-${ELF_MACHINES[view.getUint16(18, header[5] === 1)] ?? '?'}`;
  if (magic === 0xcffaedfe) return `darwin-${MACH_CPUS[view.getUint32(4, true)] ?? '?'}`;
  if (magic === 0xcefaedfe) return 'darwin-?';
  // Java class files have the same magic number, followed by a version that is higher than any count of processors.
  if (magic === 0xcafebabe) return view.getUint32(4) < 40 ? 'darwin-universal' : undefined;
  if (view.getUint16(0) !== 0x4d5a) return undefined;
  const pe = view.getUint32(0x3c, true);
  if (pe + 6 > header.length || view.getUint32(pe) !== 0x50450000) return 'win32-?';
  return `win32-${PE_MACHINES[view.getUint16(pe + 4, true)] ?? '?'}`;
}

/** A VSIX would contain code for another platform. */
export class ForeignBinariesError extends Error {
  readonly platform: string;
  readonly files: readonly string[];

  constructor(platform: string, found: readonly Binary[]) {
    const named = found.map((binary) => `${binary.file} (for ${binary.platform})`);
    super(`The VSIX for ${platform} would hold ${named.join(', ')}: see copyFiles in build.mjs.`);
    this.name = 'ForeignBinariesError';
    this.platform = platform;
    this.files = found.map(({ file }) => file);
  }
}

export interface Binary {
  /** Relative to the folder, with forward slashes. */
  readonly file: string;
  readonly platform: string;
}

/** All files with machine code in a folder. */
export async function binariesIn(folder: string): Promise<Binary[]> {
  const binaries: Binary[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const platform = platformOf(await headerOf(file));
    if (platform !== undefined) binaries.push({ file: path.relative(folder, file).replaceAll('\\', '/'), platform });
  }
  return binaries;
}

/** @throws ForeignBinariesError if a folder contains code for a platform other than `platform`. */
export async function refuseForeignBinaries(folder: string, platform: string): Promise<void> {
  const foreign = (await binariesIn(folder)).filter((binary) => binary.platform !== platform);
  if (foreign.length > 0) throw new ForeignBinariesError(platform, foreign);
}

async function headerOf(file: string): Promise<Uint8Array> {
  const handle = await open(file);
  try {
    const header = new Uint8Array(HEADER_BYTES);
    const { bytesRead } = await handle.read(header, 0, HEADER_BYTES, 0);
    return header.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
