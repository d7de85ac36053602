// Runs with a small file system of its own: node download-to-small-disk.ts URL FILE BYTES SHA256. Prints what happened as JSON.
import { execFileSync } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { DownloadError } from '../../../backend/lm/download/download-error.ts';
import { download } from '../../../backend/lm/download/resumable-download.ts';
import { quickTools, sha256 } from './tools.ts';

const [url = '', file = '', bytes = '', hex = ''] = process.argv.slice(2);
const request = { url, file, sizeBytes: Number(bytes), checksum: { algorithm: 'sha256', hex } as const, signal: new AbortController().signal };
// The check before the download is turned off: another program may fill the disk after it.
const tools = { ...quickTools, freeBytes: () => Promise.resolve(Number.MAX_SAFE_INTEGER) };

const full: unknown = await download(request, tools).catch((error: unknown) => error);
const kept = await stat(`${file}.part`);
execFileSync('mount', ['-o', 'remount,size=16m', path.dirname(file)]);
await download(request, tools);
console.log(JSON.stringify({
  full: full instanceof DownloadError ? { kind: full.kind, message: full.message } : String(full),
  keptBytes: kept.size,
  afterMakingRoom: sha256(await readFile(file)).hex === hex,
}));
